// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "legacy/wire.hpp"

namespace ttmem::legacy {

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
