// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Follows one, several or all processes into a recording, until whoever called it stops. The caller
// waits between looks as long as pause() says: so long that the fastest ring is not half full.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/admission.hpp"
#include "collect/clock.hpp"
#include "collect/directories.hpp"
#include "collect/procfs.hpp"
#include "record/follower.hpp"
#include "recording/file_writer.hpp"

namespace ttmem::record {

// What the ring of a program that is started to be recorded shall keep: enough for a recorder that
// is held up for a second, however fast the program is.
inline constexpr std::uint32_t kRingOfRecorded = 1u << 20;

// Whether a process is another one, or was started by it or by one of its children.
bool is_of_family(std::int32_t pid, std::int32_t ancestor);

struct RecordOptions {
  std::string path;                      // of the recording
  bool replace = false;                  // one that is there
  std::vector<std::string> directories;  // where to look; empty: the usual ones
  // Which processes; empty: all. Asked once for each, by its pid.
  std::function<bool(std::int32_t pid)> wanted;
  bool launches = false;  // sample launches at every look
  // Of all parts together, but a part may be twice what it begins with; 0: no bound.
  std::uint64_t max_bytes = 0;
  std::uint32_t parts = 2;    // of a bounded recording: the newest are kept
  std::uint64_t part_ns = 0;  // a part is no longer than this; 0: no bound
  bool redact = false;        // users, hosts, commands and paths become numbers
  bool keep_old = false;      // a file that is there becomes the part before this one
};

struct Progress {
  std::uint64_t events = 0, missed = 0, bytes = 0;
  std::size_t processes = 0, running = 0;  // recorded so far; of these, alive
  std::string problem;                     // the last one: a disk that is full
  std::vector<std::string> unreadable;     // processes that are not recorded, and why
};

// The files of a recording in so many parts, the newest first, whether they are there or not.
std::vector<std::string> parts_of(const std::string& path, std::uint32_t parts);

class Recorder {
 public:
  static Result<std::unique_ptr<Recorder>> start(RecordOptions options);

  // Looks at everything once, and writes what is due.
  void look() { look(collect::Moment::now()); }
  void look(const collect::Moment& now);
  // How long to wait until the next look.
  std::chrono::nanoseconds pause() const;
  // Writes what is left, and the index.
  std::optional<Error> finish();

  const Progress& progress() const { return progress_; }

 private:
  Recorder(RecordOptions options, Redaction redaction, recording::FileWriter file);
  static recording::FileInfo describe(const RecordOptions& options, std::uint32_t part,
                                      Redaction& redaction);
  static Result<recording::FileWriter> begin_part(const RecordOptions& options,
                                                  const recording::FileInfo& info,
                                                  const collect::Moment& now);
  void find(const collect::Moment& now);
  void choose(const std::vector<collect::Found>& files);
  void open(const collect::Found& file);
  bool has_number_for(const collect::Found& file) const;
  void refuse(const std::string& path, const Error& error);
  void follow(const collect::Moment& now);
  bool is_lost(Follower& follower, const collect::Moment& now, bool exited) const;
  void write(Follower& follower, const collect::Moment& now, bool all);
  void end(Follower& follower, const collect::Moment& now);
  bool is_part_full(const collect::Moment& now) const;
  void rotate(const collect::Moment& now);
  void measure(const collect::Moment& now);
  void sum_up();

  RecordOptions options_;
  Redaction redaction_;
  recording::FileWriter file_;
  collect::ProcFs procfs_;
  std::uint64_t started_ns_;
  std::vector<collect::Directory> where_;
  std::vector<collect::ListState> lists_;
  std::uint64_t listed_ns_ = 0;
  std::set<std::pair<std::string, std::uint64_t>> seen_;  // files, by path and inode
  std::map<std::string, std::string> refused_;            // by path: why, as of the last try
  std::vector<std::unique_ptr<Follower>> followers_;      // of the living
  std::vector<collect::Excess> excesses_;                 // of the last listing
  std::uint32_t next_number_ = 1;                         // in this file
  std::map<std::uint32_t, std::size_t> numbers_of_;       // in this file, by owner
  std::size_t processes_ = 0;
  std::size_t first_ = 0;  // of the followers, at the next look
  std::uint32_t part_ = 0;
  std::uint64_t part_began_ns_ = 0;     // monotonic
  std::uint64_t part_begin_bytes_ = 0;  // what the state at its beginning took
  std::uint64_t measured_ns_ = 0, measured_bytes_ = 0;
  std::uint64_t most_at_once_ = 0;  // bytes that were written from one write of all to the next
  std::vector<std::uint64_t> part_bytes_;
  std::uint64_t ended_events_ = 0, ended_missed_ = 0;
  std::uint64_t full_until_ns_ = 0;     // the disk was full: not before then again
  std::uint64_t no_part_until_ns_ = 0;  // no part could be begun: not before then again
  Progress progress_;
};

}  // namespace ttmem::record
