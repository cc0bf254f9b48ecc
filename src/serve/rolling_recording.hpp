// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The last minutes, recorded all the time, so that the hour before a failure is there when somebody
// asks: `ttmem serve --recording FILE`. On a thread of its own, at the pace that the fastest
// process demands; the daemon's loop does not wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "ledger/snapshot.hpp"
#include "record/recorder.hpp"
#include "serve/config.hpp"

namespace ttmem::serve {

class RollingRecording {
 public:
  static Result<std::unique_ptr<RollingRecording>> start(const RollingOptions& options);
  // Ends the recording well.
  ~RollingRecording();
  RollingRecording(const RollingRecording&) = delete;
  RollingRecording& operator=(const RollingRecording&) = delete;

  // What may be there of a recording in this file.
  static std::vector<std::string> files(const std::string& file);
  // The document `recordings`: the files that are there, the newest first.
  std::string json(const ledger::Snapshot& frame) const;

 private:
  RollingRecording(std::string file, std::unique_ptr<record::Recorder> recorder);
  void run();

  std::string file_;
  std::unique_ptr<record::Recorder> recorder_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  record::Progress progress_;  // under the mutex
  std::thread thread_;
};

// The same where nothing is recorded.
std::string no_recordings_json(const ledger::Snapshot& frame);

}  // namespace ttmem::serve
