// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What one client process holds. An entry is named by (device, kind, id); a second registration of
// a buffer counts a reference, circular buffers may be registered any number of times at one
// address, and a kernel's second load replaces the first. Sizes are those of the registration.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ttmem::legacy {

inline constexpr std::size_t kKinds = 5;        // DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE
inline constexpr std::size_t kKernelKinds = 4;  // Application, Fabric, Dispatch, anything else

// Sums over entries, in the original's measures.
struct Tally {
  std::array<std::uint64_t, kKinds> bytes{};
  std::uint64_t buffers = 0;
  std::uint64_t cb_bytes = 0, cbs = 0;
  std::array<std::uint64_t, kKernelKinds> kernel_bytes{};
  std::array<std::uint64_t, kKernelKinds> kernels{};

  // Device memory: host memory is a figure of its own.
  std::uint64_t device_bytes() const { return bytes[0] + bytes[1] + bytes[3] + bytes[4]; }
  std::uint64_t all_kernel_bytes() const {
    return kernel_bytes[0] + kernel_bytes[1] + kernel_bytes[2] + kernel_bytes[3];
  }
  std::uint64_t all_kernels() const { return kernels[0] + kernels[1] + kernels[2] + kernels[3]; }
  bool empty() const { return buffers == 0 && cbs == 0 && all_kernels() == 0; }
};

using Tallies = std::map<std::int32_t, Tally>;  // by device

inline std::size_t kernel_kind(std::uint8_t type) { return type < 3 ? type : 3; }

struct Place {
  std::int32_t device = 0;
  std::uint64_t id = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Buffer {
  std::uint64_t size = 0;
  std::uint32_t references = 1;
  std::uint8_t kind = 0;
};

struct Cb {
  std::uint64_t size = 0;
  std::uint64_t number = 0;  // of the registration, unique in its process
};

struct Kernel {
  std::uint64_t size = 0;
  std::uint64_t since_ns = 0;
  std::uint8_t type = 0;
  bool estimated = false;
};

class ClientHoldings {
 public:
  explicit ClientHoldings(Tallies& totals) : totals_(&totals) {}
  ~ClientHoldings() { clear(); }
  ClientHoldings(const ClientHoldings&) = delete;
  ClientHoldings& operator=(const ClientHoldings&) = delete;

  struct Allocated {
    enum class What : std::uint8_t { kNew, kReferenced, kReplaced } what;
    std::uint32_t references;
    std::uint64_t size_before;
  };
  Allocated allocate(const Place& place, std::uint8_t kind, std::uint64_t size);

  struct Freed {
    Buffer buffer;           // with the references that remain
    bool ambiguous = false;  // the id was live in several kinds: this is the newest
  };
  // A free names no kind. Nothing if there is no such buffer.
  std::optional<Freed> free(const Place& place);

  Cb add_cb(const Place& place, std::uint64_t size);
  // The one of that size, else the newest.
  std::optional<Cb> remove_cb(const Place& place, std::uint64_t size);

  // What was replaced, if the id was live.
  std::optional<Kernel> load(const Place& place, const Kernel& kernel);
  std::optional<Kernel> unload(const Place& place);

  void clear();
  bool empty() const { return entries_ == 0; }
  std::uint64_t entries() const { return entries_; }
  Tally sum() const;

  void for_each_buffer(const std::function<void(const Place&, const Buffer&)>& visit) const;
  void for_each_cb(const std::function<void(const Place&, const Cb&)>& visit) const;
  void for_each_kernel(const std::function<void(const Place&, const Kernel&)>& visit) const;

 private:
  struct HashPlace {
    std::size_t operator()(const Place& place) const {
      const auto device = static_cast<std::uint64_t>(static_cast<std::uint32_t>(place.device));
      return (place.id ^ device << 52) * 0x9E3779B97F4A7C15ull >> 7;
    }
  };
  // Nearly always one kind lives at an address.
  struct Buffers {
    Buffer newest;
    std::unique_ptr<std::vector<Buffer>> older;
  };
  Buffer* find(Buffers& buffers, std::uint8_t kind);
  void count(const Place& place, const Buffer& buffer, bool add);
  void count(const Place& place, const Cb& cb, bool add);
  void count(const Place& place, const Kernel& kernel, bool add);

  Tallies* totals_;
  std::uint64_t entries_ = 0;
  std::uint64_t next_cb_ = 1;
  std::unordered_map<Place, Buffers, HashPlace> buffers_;
  std::unordered_map<Place, std::vector<Cb>, HashPlace> cbs_;
  std::unordered_map<Place, Kernel, HashPlace> kernels_;
};

// Adds the bytes that circular buffers cover, by device: registrations at one address lie on each
// other.
void add_covered_bytes(const ClientHoldings& holdings,
                       std::map<std::int32_t, std::uint64_t>& covered);

}  // namespace ttmem::legacy
