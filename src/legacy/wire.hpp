// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The messages of the original's socket, byte by byte. All forms begin with the same 40 bytes and
// differ in what an answer carries after them:
//
//   0 type u8 | 4 device i32 | 8 size u64 | 16 kind u8 | 20 pid i32 | 24 id u64 | 32 time u64
//   40 dram, l1, l1_small, trace                                      72, 112, 128, 144
//   72 cb, kernels                                                    128, 144
//   72 or 88 capacities: 2 x u64, 6 x u32                             112; 128, 144
//   128 ring: capacity, used, programs, 0                             144
//
// The wrappers of the original send another one, of 32 bytes:
//   0 type u8 | 4 device i32 | 8 size u64 | 16 id u64 | 24 pid i32 | 28 zeros
//
// In requests everything from byte 40 on is zero. Little-endian, packed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::legacy {

enum class Type : std::uint8_t {
  kAlloc = 1,
  kFree = 2,
  kQuery = 3,
  kResponse = 4,
  kDumpRemaining = 5,
  kDeviceInfoQuery = 6,
  kDeviceInfoResponse = 7,
  kCbAlloc = 8,
  kCbFree = 9,
  kKernelLoad = 10,
  kKernelUnload = 11,
  kDumpKernels = 12,
};

enum class Form : std::uint8_t { kUnknown, kWrapper, k72, k112, k128, k144 };

inline constexpr std::size_t kHeadBytes = 40;
inline constexpr std::size_t kWrapperBytes = 32;
inline constexpr std::size_t kMostBytes = 144;

std::size_t bytes_of(Form form);           // 0 for kUnknown
Form form_of_distance(std::size_t bytes);  // kUnknown if there is no such form

struct Request {
  Type type{};
  std::int32_t device = 0;
  std::uint64_t size = 0;
  std::uint8_t kind = 0;         // memory kind of a buffer, type of a kernel
  std::int32_t claimed_pid = 0;  // a label, never an identity
  std::uint64_t id = 0;          // address, or id of a kernel
  bool estimated = false;        // a wrapper's guess at a kernel's size
};

// Nothing if the first bytes cannot be a message: its type or its padding say so. Needs the head's
// 40 bytes.
std::optional<Request> decode_head(std::span<const std::byte> head);

// The 32-byte form, told by the pid: it stands where only that form has it. Needs 32 bytes.
std::optional<Request> decode_wrapper(std::span<const std::byte> message, std::int32_t sender);

// What both answers carry; what a form has no room for is left out.
struct Answer {
  Type type = Type::kResponse;
  std::int32_t device = 0;
  std::uint64_t dram = 0, l1 = 0, l1_small = 0, trace = 0, cb = 0, kernels = 0;
  std::uint64_t total_dram = 0, total_l1 = 0;
  std::uint32_t arch = 0, dram_channels = 0, dram_bytes_per_channel = 0, l1_bytes_per_core = 0;
  std::uint32_t available = 0, devices = 0;
  std::uint32_t ring_capacity = 0, ring_used = 0, ring_programs = 0;
};

std::string encode(const Answer& answer, Form form);

// From a stream of bytes to messages. The protocol has no length, magic or version, and its message
// grew from 72 to 144 bytes, so the form is told from the stream: requests are zero from byte 40
// on, so the next message starts at the first byte that is not. Where nothing follows, the length
// at which the sender fell silent is the form. Once told, it holds for the rest of the connection.
//
//   unknown ──(32 bytes, the pid is where only a wrapper has it)──▶ wrapper
//           ──(first byte that is not zero, at 72, 112, 128)──────▶ that form
//           ──(144 bytes, zero from 40 on)────────────────────────▶ 144
//           ──(silence or end at 72, 112, 128)────────────────────▶ that form
//   anything else: broken, for good. A broken stream has changed nothing that was misread.
class Framer {
 public:
  enum class State : std::uint8_t {
    kMessage,  // `request` was filled
    kMore,     // nothing can be done before more bytes come
    kSilence,  // as kMore; and if nothing comes for a moment, call silence()
    kBroken,   // not this protocol: close the connection; problem() says why
  };

  // Bytes as they were read, and who sent them.
  void feed(std::span<const std::byte> bytes, std::int32_t sender);
  // Nothing follows what was fed: the sender paused, or is gone.
  void silence();

  State next(Request& request);
  // Who sent the message that next() handed out.
  std::int32_t sender() const { return sender_; }
  Form form() const { return form_; }
  std::size_t waiting() const { return bytes_.size() - start_; }  // bytes of an unfinished message
  std::string_view problem() const { return problem_; }

 private:
  struct Run {  // bytes up to `end` came from `sender`
    std::size_t end;
    std::int32_t sender;
  };
  State broken(std::string_view why);
  State tell_form(std::span<const std::byte> data);
  State take(std::span<const std::byte> data, Request& request);
  bool same_sender(std::size_t bytes);
  void drop(std::size_t bytes);

  std::vector<std::byte> bytes_;
  std::size_t start_ = 0;  // of the next message
  std::vector<Run> runs_;
  std::size_t first_run_ = 0;
  std::int32_t sender_ = 0;
  Form form_ = Form::kUnknown;
  bool silent_ = false;
  std::string_view problem_;
};

}  // namespace ttmem::legacy
