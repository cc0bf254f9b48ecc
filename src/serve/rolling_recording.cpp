// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/rolling_recording.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve {
namespace {

using view::json::Json;

// One more than the wanted time has: the oldest is only partly within it.
constexpr std::uint32_t kWholeParts = 6, kFiles = kWholeParts + 1;
constexpr std::uint64_t kMinuteNs = 60'000'000'000;

Json entry_of(const std::string& path, const struct stat& facts) {
  const auto written = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 +
                       static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
  return {{"path", path}, {"bytes", facts.st_size}, {"written_ns", written}};
}

}  // namespace

Result<std::unique_ptr<RollingRecording>> RollingRecording::start(const RollingOptions& options) {
  record::RecordOptions wanted;
  wanted.path = options.file;
  wanted.max_bytes = options.max_bytes;
  wanted.parts = kFiles;
  wanted.part_ns = options.minutes * kMinuteNs / kWholeParts;
  wanted.keep_old = true;
  auto recorder = record::Recorder::start(wanted);
  if (!recorder) return recorder.error();
  return std::unique_ptr<RollingRecording>(
      new RollingRecording(options.file, std::move(*recorder)));
}

RollingRecording::RollingRecording(std::string file, std::unique_ptr<record::Recorder> recorder)
    : file_(std::move(file)), recorder_(std::move(recorder)) {
  // Signals are for the loop.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RollingRecording::~RollingRecording() {
  stop_ = true;
  thread_.join();
  recorder_->finish();
}

std::vector<std::string> RollingRecording::files(const std::string& file) {
  return record::parts_of(file, kFiles);
}

// What it cannot do, as without memory, ends the recording and nothing else.
void RollingRecording::run() try {
  while (!stop_) {
    recorder_->look();
    {
      const std::scoped_lock lock(mutex_);
      progress_ = recorder_->progress();
    }
    std::this_thread::sleep_for(recorder_->pause());
  }
} catch (const std::exception& problem) {
  const std::scoped_lock lock(mutex_);
  progress_.problem = problem.what();
}

std::string RollingRecording::json(const ledger::Snapshot& frame) const {
  Json document = view::json::head("recordings", frame);
  Json& files = document["recordings"] = Json::array();
  for (const std::string& path : RollingRecording::files(file_)) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) {
      files.push_back(entry_of(path, facts));
    }
  }
  const std::scoped_lock lock(mutex_);
  document["events"] = progress_.events;
  document["missed"] = progress_.missed;
  document["problem"] = view::json::text_or_null(progress_.problem);
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string no_recordings_json(const ledger::Snapshot& frame) {
  Json document = view::json::head("recordings", frame);
  document["recordings"] = Json::array();
  document["events"] = document["missed"] = document["problem"] = nullptr;
  return view::json::text(document, view::JsonLayout::kCompact);
}

}  // namespace ttmem::serve
