// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The segment that the daemon writes in a client's name: subject = the client, source = legacy. So
// every reader sees what the client holds, without the daemon and also after it.
//
// A client tells addresses and requested sizes, no blocks, banks or cores. Buffers become buffers
// with only their requested size; a registration of a circular buffer becomes a program with one
// range, a kernel a loaded program with one kernel, under the id that the client gave it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "collect/numbered_chips.hpp"
#include "legacy/client_holdings.hpp"
#include "segment/format.hpp"
#include "ttmem/ttmem.hpp"

namespace ttmem::client {
class Recorder;
}

namespace ttmem::legacy {

// What is known about the chip behind a device number.
struct Chip {
  std::uint64_t unique_id = 0;
  std::uint32_t arch = 0;  // TTMEM_ARCH_*
  bool mock = false;
};

inline Chip unknown_chip(std::int32_t device) {
  return {collect::numbered_chip(static_cast<std::uint32_t>(device)), 0, false};
}

// ---- program ids ------------------------------------------------------------------------------

// Nobody gives a circular buffer an id: these are ours.
inline constexpr std::uint64_t kCbProgram = 1ull << 63;
inline std::uint64_t cb_program(const Cb& cb) { return kCbProgram | cb.number; }
// A program is the same code wherever it is. Where a client loads other code under the same id on
// another device, that is another program: it gets an id of ours, and is named by the client's.
inline constexpr std::uint64_t kOtherProgram = 1ull << 62;
// The id that the client gave a kernel, from the program's id and the kernel's name.
std::uint64_t told_kernel_id(std::uint64_t program, const std::string& name);

class ClientSegment {
 public:
  // Null if it cannot be written; `error` is an errno then. `directory` "" is the usual one.
  static std::unique_ptr<ClientSegment> open(const segment::Identity& subject,
                                             const std::string& directory, int& error);
  ~ClientSegment();  // lets go of the file; it stays and can be read
  ClientSegment(const ClientSegment&) = delete;
  ClientSegment& operator=(const ClientSegment&) = delete;

  // A device that is used for the first time is opened.
  void allocated(const Place& place, const Chip& chip, std::uint8_t kind, std::uint64_t size);
  void freed(const Place& place, std::uint8_t kind);
  void cb_added(const Place& place, const Chip& chip, const Cb& cb);
  void cb_removed(const Cb& cb);
  // `by_launch`: the message is a launch as well; not so for what another daemon had recorded.
  void kernel_loaded(const Place& place, const Chip& chip, const Kernel& kernel, bool by_launch);
  void kernel_launched(const Place& place);  // once more
  void kernel_unloaded(const Place& place);
  void anomaly(std::uint32_t kind, std::uint64_t id = 0);
  void anomaly_at(std::uint32_t kind, const Place& place, const Chip& chip);  // of a device

  bool knows(std::int32_t device) const { return devices_.contains(device); }
  void connected(bool is);
  // Earlier events are not known: what is here was adopted from another daemon's segment.
  void mark_adopted();
  // The client ended and held nothing.
  void close();
  std::string path() const;

 private:
  struct Device {
    std::uint16_t set = 0;
    std::uint16_t allocator = 0;
  };
  struct Loaded {
    std::uint64_t program = 0;
    ttmem_workload_t workload = 0;  // 0: a guess, which nobody launches
  };
  struct Code {
    std::uint64_t size = 0;
    std::uint8_t type = 0;
    bool estimated = false;
    std::uint32_t devices = 0;  // that have it
  };
  explicit ClientSegment(std::unique_ptr<client::Recorder> recorder);
  std::uint64_t program_for(const Place& place, const Kernel& kernel);
  const Device& device(std::int32_t number, const Chip& chip);
  void set_flags(std::uint32_t set, std::uint32_t cleared);

  std::unique_ptr<client::Recorder> recorder_;
  std::map<std::int32_t, Device> devices_;
  std::map<std::pair<std::int32_t, std::uint64_t>, Loaded> kernels_;  // by device and id
  std::unordered_map<std::uint64_t, Code> codes_;                     // by program
  std::uint64_t next_other_ = 1, next_workload_ = ttmem::kFirstOwnId;
};

}  // namespace ttmem::legacy
