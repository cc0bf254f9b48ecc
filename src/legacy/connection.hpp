// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One connection of the original's socket: bytes in, with the process that the kernel names as
// their sender; answers out, as fast as the peer takes them. Nothing here waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.hpp"
#include "legacy/service.hpp"
#include "legacy/wire.hpp"
#include "loop/loop.hpp"

namespace ttmem::legacy {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(FileDescriptor socket, Service& service);
  ~Connection();  // closes it and tells its clients
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Read : std::uint8_t {
    kDrained,  // nothing more is there now
    kMore,     // enough for one turn; there may be more, see has_pending()
    kEnded,    // the peer sent all it will send
    kBroken,   // not this protocol, or the connection failed: close it
  };
  // Applies what an earlier turn left, then reads at most `bytes` and applies every complete
  // message; gives up its turn after a few milliseconds, or when the peer does not take its
  // answers.
  Read read(std::size_t bytes);
  // The sender has been quiet long enough for a form to be told by length. False: close it.
  bool silence();

  // Sends what it can. False: the peer is gone, close it.
  bool send();
  bool has_output() const { return sent_ < output_.size(); }
  bool is_clogged() const;  // the peer does not take its answers: read no more from it
  // Messages that were read wait for the next turn: read() again, whether or not more came.
  bool has_pending() const { return pending_; }

  bool awaits_silence() const { return state_ == Framer::State::kSilence; }
  bool is_unfinished() const { return !pending_ && framer_.waiting() > 0; }
  Clock::time_point last_read() const { return last_read_; }

  int descriptor() const { return socket_.get(); }
  std::uint32_t owner() const { return owner_; }  // the user id of who connected, from the kernel
  std::string problem() const { return std::string(framer_.problem()); }
  const std::vector<std::int32_t>& senders() const { return senders_; }
  // The client is about to be forgotten.
  void forget(std::int32_t pid);

  bool ended = false;                        // by the peer; kept until its answers are sent
  bool held = false;                         // until its owner may go on
  std::optional<loop::Loop::Ready> watched;  // for what

 private:
  bool apply_all(Clock::time_point until);
  void apply(const Request& request);
  Client& sender();

  FileDescriptor socket_;
  std::uint32_t owner_;
  Service& service_;
  Framer framer_;
  Framer::State state_ = Framer::State::kMore;
  bool pending_ = false;
  std::vector<std::int32_t> senders_;  // clients that sent through it
  Client* last_ = nullptr;             // the latest of them
  std::string output_;
  std::size_t sent_ = 0;
  Clock::time_point last_read_ = Clock::now();
};

}  // namespace ttmem::legacy
