// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// /api/v1/recording: what a recording is, and where in it something happened. And what takes a
// while to find out of one, on a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "collect/collector.hpp"
#include "collect/replay_outline.hpp"
#include "serve/history/history.hpp"

namespace ttmem::serve {

// `collector` is that of a recording. `outline` null: it is not known yet.
std::string recording_json(const collect::Collector& collector, const collect::Outline* outline);

class ReplayStudy {
 public:
  explicit ReplayStudy(std::string file);
  ~ReplayStudy();
  ReplayStudy(const ReplayStudy&) = delete;
  ReplayStudy& operator=(const ReplayStudy&) = delete;

  // Null: not yet. Once there, they stay.
  const collect::Outline* outline() const;
  history::History* history() const;

 private:
  void run();
  void fill_history();

  std::string file_;
  std::atomic<bool> stop_ = false, outlined_ = false, filled_ = false;
  collect::Outline outline_;
  std::unique_ptr<history::History> history_;
  std::thread thread_;
};

}  // namespace ttmem::serve
