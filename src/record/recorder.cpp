// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "record/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace ttmem::record {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kListEveryNs = 20'000'000;
constexpr std::uint64_t kRetryFullNs = 1'000'000'000;
constexpr std::size_t kMostRefused = 64;
constexpr double kFillWanted = 0.25;  // of a ring, between two looks
constexpr std::chrono::nanoseconds kShortestPause = 500us;
constexpr std::chrono::nanoseconds kLongestPause = 50ms;
constexpr double kFastestPerSecond = 1e6;  // events that a process may begin with at once

template <std::size_t N>
void put(const std::string& text, char (&field)[N]) {
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

recording::Moment stored(const collect::Moment& now) {
  return {now.tsc, now.monotonic_ns, now.wall_ns};
}

// FILE is being written, FILE.1 is the one before it, and so on.
std::string name_of_part(const std::string& path, std::uint32_t age) {
  return age == 0 ? path : fmt::format("{}.{}", path, age);
}

// Makes room for a new FILE; the oldest goes.
void shift_parts(const std::string& path, std::uint32_t parts) {
  if (parts == 1) ::unlink(path.c_str());
  for (std::uint32_t age = parts - 1; age > 0; --age) {
    std::rename(name_of_part(path, age - 1).c_str(), name_of_part(path, age).c_str());
  }
}

}  // namespace

std::vector<std::string> parts_of(const std::string& path, std::uint32_t parts) {
  std::vector<std::string> names;
  for (std::uint32_t age = 0; age < parts; ++age) names.push_back(name_of_part(path, age));
  return names;
}

recording::FileInfo Recorder::describe(const RecordOptions& options, std::uint32_t part,
                                       Redaction& redaction) {
  recording::FileInfo info{};
  put(TTMEM_VERSION, info.version);
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) put(name.data(), info.host);
  put(collect::ProcFs("").boot_id_text(), info.boot_id);
  info.started_ns = collect::Moment::now().wall_ns;
  info.flags = options.launches ? recording::kLaunches : 0;
  info.part = part;
  std::string places;
  for (const auto& directory : collect::find_directories(options.directories, "")) {
    places += (places.empty() ? "" : ":") + directory.path;
  }
  put(places, info.directories);
  if (options.redact) redaction.apply(info);
  return info;
}

Result<std::unique_ptr<Recorder>> Recorder::start(RecordOptions options) {
  if (options.keep_old) shift_parts(options.path, options.parts);
  Redaction redaction;
  auto file =
      recording::FileWriter::create(options.path, options.replace, describe(options, 0, redaction),
                                    stored(collect::Moment::now()));
  if (!file) return file.error();
  return std::unique_ptr<Recorder>(
      new Recorder(std::move(options), std::move(redaction), std::move(*file)));
}

Recorder::Recorder(RecordOptions options, Redaction redaction, recording::FileWriter file)
    : options_(std::move(options)),
      redaction_(std::move(redaction)),
      file_(std::move(file)),
      procfs_(""),
      started_ns_(collect::Moment::now().monotonic_ns) {}

void Recorder::look(const collect::Moment& now) {
  find(now);
  follow(now);
  rotate(now);
  sum_up();
}

void Recorder::find(const collect::Moment& now) {
  if (listed_ns_ != 0 && now.monotonic_ns < listed_ns_ + kListEveryNs) return;
  listed_ns_ = now.monotonic_ns;
  where_ = collect::find_directories(options_.directories, "");
  std::vector<collect::ListState> lists;
  for (const auto& directory : where_) lists.push_back(collect::list_state(directory, now.wall_ns));
  const bool same = lists == lists_ && std::ranges::all_of(lists, &collect::ListState::settled);
  lists_ = std::move(lists);
  if (same) return;
  for (const collect::Directory& directory : where_) {
    const auto listing = collect::list_segments(directory);
    if (!listing) {
      refuse(directory.path, listing.error());
      continue;
    }
    for (const collect::Found& file : listing->files) open(file);
  }
}

void Recorder::open(const collect::Found& file) {
  const std::pair<std::string, std::uint64_t> id{file.path, file.inode};
  if (seen_.contains(id) || next_number_ > recording::kMaxProcesses) return;
  const auto pid = collect::pid_of_name(file.name);
  if (options_.wanted && (!pid || !options_.wanted(*pid))) {
    seen_.insert(id);
    return;
  }
  auto follower = Follower::open(file, next_number_, {options_.launches, started_ns_});
  if (!follower) {  // not written yet, perhaps: it is looked at again
    lists_.clear();
    refuse(file.path, follower.error());
    return;
  }
  refused_.erase(file.path);
  if (options_.redact) (*follower)->redact(redaction_);
  seen_.insert(id);
  ++next_number_;
  followers_.push_back(std::move(*follower));
}

// A directory or file that is not there is no loss.
void Recorder::refuse(const std::string& path, const Error& error) {
  if (error.code == ErrorCode::kNotFound || refused_.size() >= kMostRefused) return;
  refused_[path] = error.message;
}

void Recorder::follow(const collect::Moment& now) {
  std::vector<int> descriptors;
  for (const auto& follower : followers_) descriptors.push_back(follower->exit_descriptor());
  const std::vector<bool> exited = collect::poll_exited(descriptors);
  for (std::size_t i = 0; i < followers_.size(); ++i) {
    Follower& follower = *followers_[i];
    const bool lost = follower.look(procfs_, now, exited[i]).has_value();
    const bool over = lost || follower.is_done();
    write(follower, now, over);
    if (!over) continue;
    end(follower, now);
    followers_[i].reset();
  }
  std::erase(followers_, nullptr);
}

void Recorder::write(Follower& follower, const collect::Moment& now, bool all) {
  if (now.monotonic_ns < full_until_ns_ && !all) return;
  if (const auto error = follower.write(file_, now, all)) {
    progress_.problem = error->message;
    full_until_ns_ = now.monotonic_ns + kRetryFullNs;
  } else {
    full_until_ns_ = 0;
  }
}

void Recorder::end(Follower& follower, const collect::Moment& now) {
  if (const auto error = follower.write_end(file_, now)) progress_.problem = error->message;
  ended_events_ += follower.events();
  ended_missed_ += follower.missed();
}

bool Recorder::is_part_full(const collect::Moment& now) const {
  const bool large =
      options_.max_bytes != 0 && file_.bytes() >= options_.max_bytes / options_.parts;
  return large || (options_.part_ns != 0 && now.monotonic_ns >= part_began_ns_ + options_.part_ns);
}

// The newest parts are kept.
void Recorder::rotate(const collect::Moment& now) {
  if (part_began_ns_ == 0) part_began_ns_ = now.monotonic_ns;
  if (!is_part_full(now)) return;
  part_began_ns_ = now.monotonic_ns;
  for (auto& follower : followers_) write(*follower, now, true);
  if (const auto error = file_.finish()) progress_.problem = error->message;
  part_bytes_.push_back(file_.bytes());
  shift_parts(options_.path, options_.parts);
  auto next = recording::FileWriter::create(options_.path, false,
                                            describe(options_, ++part_, redaction_), stored(now));
  if (!next) {
    progress_.problem = next.error().message;
    return;
  }
  file_ = std::move(*next);
  for (auto& follower : followers_) {
    follower->start_file();
    write(*follower, now, true);
  }
}

void Recorder::sum_up() {
  progress_.events = ended_events_;
  progress_.missed = ended_missed_;
  for (const auto& follower : followers_) {
    progress_.events += follower->events();
    progress_.missed += follower->missed();
  }
  progress_.bytes = file_.bytes();
  const std::size_t older = std::min<std::size_t>(part_bytes_.size(), options_.parts - 1);
  for (std::size_t i = 0; i < older; ++i) {
    progress_.bytes += part_bytes_[part_bytes_.size() - 1 - i];
  }
  progress_.unreadable.clear();
  for (const auto& [path, why] : refused_) {
    progress_.unreadable.push_back(path + " is not recorded: " + why);
  }
  progress_.processes = next_number_ - 1;
  progress_.running = followers_.size();
}

std::chrono::nanoseconds Recorder::pause() const {
  std::chrono::nanoseconds pause = kLongestPause;
  for (const auto& follower : followers_) {
    // Nobody knows how fast it will be next: a ring must stand a sudden start.
    const double room = static_cast<double>(follower->ring_entries()) * kFillWanted;
    const auto sudden =
        std::chrono::nanoseconds(static_cast<std::int64_t>(room / kFastestPerSecond * 1e9));
    const auto wanted = follower->fill() > kFillWanted ? sudden / 2 : sudden;
    pause = std::min(pause, std::max(wanted, kShortestPause));
  }
  return pause;
}

std::optional<Error> Recorder::finish() {
  const collect::Moment now = collect::Moment::now();
  find(now);
  do {
    follow(collect::Moment::now());
  } while (std::ranges::any_of(followers_, [](const auto& each) { return each->is_behind(); }));
  for (auto& follower : followers_) {
    write(*follower, now, true);
    end(*follower, now);
  }
  followers_.clear();
  sum_up();
  return file_.finish();
}

}  // namespace ttmem::record
