// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Recordings that somebody looks at in the page of their own daemon: a file that was dropped there,
// which comes in pieces and is removed afterwards, or one that the daemon keeps (docs/http.md,
// "Opening a recording"). Whoever asks has proved to be the daemon's user; that is checked before.
// All calls are made by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve {

class OpenedRecordings {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::uint64_t bytes = 256ull << 20;  // of a file that is dropped
    std::size_t opened = 2;              // at a time: one more closes the oldest
    Clock::duration idle = std::chrono::hours(1);
  };

  // `kept`: the files of `serve --recording`, which may be opened by their path.
  explicit OpenedRecordings(std::vector<std::string> kept);
  OpenedRecordings(std::vector<std::string> kept, Limits limits);
  ~OpenedRecordings();
  OpenedRecordings(const OpenedRecordings&) = delete;
  OpenedRecordings& operator=(const OpenedRecordings&) = delete;

  // A POST below kRecordingsPath, or a question with the parameter `recording`.
  http::Response answer(const http::Request& request);
  void forget_idle(Clock::time_point now);
  std::size_t opened() const { return opened_.size(); }

 private:
  struct Opened;
  using Iterator = std::list<std::unique_ptr<Opened>>::iterator;

  http::Response begin(const http::Request& request);
  http::Response take_piece(const http::Request& request, Opened& opened);
  http::Response show(http::Request request);
  http::Response close(Iterator which);
  Iterator find(std::string_view key);
  void add(std::unique_ptr<Opened> opened);

  std::vector<std::string> kept_;
  Limits limits_;
  std::list<std::unique_ptr<Opened>> opened_;  // the newest first
};

}  // namespace ttmem::serve
