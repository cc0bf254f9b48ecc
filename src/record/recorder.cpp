// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "record/recorder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "collect/process_description.hpp"
#include "segment/reader_records.hpp"

namespace ttmem::record {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kListEveryNs = 20'000'000;
constexpr std::uint64_t kRetryFullNs = 1'000'000'000;
// How long the end waits for writers that go on: they may be faster than we are.
constexpr std::uint64_t kCatchUpNs = 2'000'000'000;
constexpr std::size_t kMostRefused = 64;
constexpr std::size_t kMostNumbersOfOne = recording::kMaxProcesses / 4;
// Of the processor, for the files of one stranger at each look: the rings of others fill meanwhile.
constexpr std::uint64_t kMostLookNs = 100'000'000;
constexpr double kFillWanted = 0.25;  // of a ring, between two looks
constexpr std::chrono::nanoseconds kShortestPause = 500us;
constexpr std::chrono::nanoseconds kLongestPause = 50ms;
constexpr double kFastestPerSecond = 1e6;  // events that a process may begin with at once

// What one owner's files have cost in a look.
struct Spent {
  std::uint64_t ns = 0;
  std::uint32_t patience = segment::Patience::kMost;
};

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

// A folder or a link is none of ours to rename.
std::optional<Error> refuse_other_kinds(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0 || S_ISREG(facts.st_mode)) continue;
    return Error{ErrorCode::kWrongKind,
                 path + (S_ISDIR(facts.st_mode) ? ": it is a folder: name a file in it"
                                                : ": it is no regular file: name another one")};
  }
  return std::nullopt;
}

// Makes room for a new FILE; the oldest goes. Only a new one that is there already may ask for it.
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

// Where there is no room for a new part, those that are there stay: they are what was recorded.
Result<recording::FileWriter> Recorder::begin_part(const RecordOptions& options,
                                                   const recording::FileInfo& info,
                                                   const collect::Moment& now) {
  return recording::FileWriter::create(options.path + ".new", true, info, stored(now));
}

Result<std::unique_ptr<Recorder>> Recorder::start(RecordOptions options) {
  Redaction redaction;
  const recording::FileInfo info = describe(options, 0, redaction);
  const collect::Moment now = collect::Moment::now();
  if (options.keep_old) {
    if (auto other = refuse_other_kinds(parts_of(options.path, options.parts))) return *other;
  }
  auto file = options.keep_old
                  ? begin_part(options, info, now)
                  : recording::FileWriter::create(options.path, options.replace, info, stored(now));
  if (!file) return file.error();
  if (options.keep_old) {
    shift_parts(options.path, options.parts);
    if (auto error = file->move_to(options.path)) return *error;
  }
  return std::unique_ptr<Recorder>(
      new Recorder(std::move(options), std::move(redaction), std::move(*file)));
}

Recorder::Recorder(RecordOptions options, Redaction redaction, recording::FileWriter file)
    : options_(std::move(options)),
      redaction_(std::move(redaction)),
      file_(std::move(file)),
      procfs_(""),
      started_ns_(collect::Moment::now().monotonic_ns) {
  collect::raise_descriptor_limit();
}

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
  std::vector<collect::Found> files;
  for (const collect::Directory& directory : where_) {
    auto listing = collect::list_segments(directory);
    if (!listing) {
      refuse(directory.path, listing.error());
      continue;
    }
    std::ranges::move(listing->files, std::back_inserter(files));
  }
  choose(files);
}

// Which of them are followed, as collect/admission.hpp says: a host's other readers need
// descriptors too, so half as many as they.
void Recorder::choose(const std::vector<collect::Found>& files) {
  std::set<std::uint64_t> followed;
  for (const auto& follower : followers_) followed.insert(follower->reader().file().inode());
  std::set<std::pair<std::string, std::uint64_t>> still;
  std::vector<collect::Candidate> candidates;
  for (const collect::Found& file : files) {
    const std::pair<std::string, std::uint64_t> id{file.path, file.inode};
    const bool seen = seen_.contains(id);
    if (seen) still.insert(id);
    const bool is_followed = seen && followed.contains(file.inode);
    if (!seen || is_followed) candidates.push_back({file, is_followed});
  }
  seen_ = std::move(still);
  excesses_ = collect::admit(candidates, collect::most_followed() / 2);
  if (!excesses_.empty()) lists_.clear();
  for (const collect::Candidate& each : candidates) {
    if (!each.followed) open(each.file);
  }
}

// A part tells so many processes apart, and no stranger has more than a quarter of them.
bool Recorder::has_number_for(const collect::Found& file) const {
  const auto known = numbers_of_.find(file.uid);
  const std::size_t of_owner = known == numbers_of_.end() ? 0 : known->second;
  return next_number_ <= recording::kMaxProcesses &&
         (of_owner < kMostNumbersOfOne || collect::speaks_for_others(file, file.uid));
}

void Recorder::open(const collect::Found& file) {
  const std::pair<std::string, std::uint64_t> id{file.path, file.inode};
  const auto pid = collect::pid_of_name(file.name);
  if (options_.wanted && (!pid || !options_.wanted(*pid))) {
    seen_.insert(id);
    return;
  }
  if (!has_number_for(file)) {  // the next part has room again
    return refuse(file.path, {ErrorCode::kCorrupt,
                              "a recording has room for 4,096 processes, a quarter of "
                              "them of one other user"});
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
  ++numbers_of_[file.uid];
  ++processes_;
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
  std::map<std::uint32_t, Spent> spent;
  const std::size_t first = std::exchange(first_, 0);
  for (std::size_t turn = 0; turn < followers_.size(); ++turn) {
    const std::size_t i = (first + turn) % followers_.size();
    Follower& follower = *followers_[i];
    Spent& of_owner = spent[follower.reader().file().owner()];
    if (!follower.is_trusted() && of_owner.ns > kMostLookNs) {
      if (first_ == 0) first_ = i;  // where the next look begins
      continue;
    }
    const std::uint64_t before = collect::processor_ns();
    segment::Patience::left() = of_owner.patience;
    const bool over = is_lost(follower, now, exited[i]) || follower.is_done();
    write(follower, now, over);
    of_owner.patience = segment::Patience::left();
    of_owner.ns += collect::processor_ns() - before;
    if (!over) continue;
    end(follower, now);
    followers_[i].reset();
  }
  std::erase(followers_, nullptr);
}

// Whatever one file asks for, as more memory than there is, ends the recording of that one alone.
bool Recorder::is_lost(Follower& follower, const collect::Moment& now, bool exited) const {
  try {
    return follower.look(procfs_, now, exited).has_value();
  } catch (const std::exception&) {
    return true;
  }
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
  // What still comes in has its place: all that waits, and the index.
  const std::uint64_t share = options_.max_bytes / options_.parts;
  const std::uint64_t still = std::min(most_at_once_, share / 2);
  const bool large = options_.max_bytes != 0 && file_.bytes_when_finished() + still >= share &&
                     file_.bytes() >= 2 * part_begin_bytes_;
  const bool is_cut = options_.max_bytes != 0 || options_.part_ns != 0;
  const bool has_no_number = is_cut && next_number_ > recording::kMaxProcesses &&
                             followers_.size() < recording::kMaxProcesses / 2;
  return large || has_no_number ||
         (options_.part_ns != 0 && now.monotonic_ns >= part_began_ns_ + options_.part_ns);
}

// What is written within the time that an event may wait: as much may be waiting.
void Recorder::measure(const collect::Moment& now) {
  most_at_once_ = std::max(most_at_once_, file_.bytes() - measured_bytes_);
  if (now.monotonic_ns < measured_ns_ + recording::kBlockNs) return;
  measured_ns_ = now.monotonic_ns;
  measured_bytes_ = file_.bytes();
}

// The newest parts are kept.
void Recorder::rotate(const collect::Moment& now) {
  if (part_began_ns_ == 0) part_began_ns_ = now.monotonic_ns;
  measure(now);
  if (now.monotonic_ns < no_part_until_ns_ || !is_part_full(now)) return;
  auto next = begin_part(options_, describe(options_, part_ + 1, redaction_), now);
  if (!next) {
    progress_.problem = next.error().message;
    no_part_until_ns_ = now.monotonic_ns + kRetryFullNs;
    return;
  }
  ++part_;
  part_began_ns_ = now.monotonic_ns;
  for (auto& follower : followers_) write(*follower, now, true);
  if (const auto error = file_.finish()) progress_.problem = error->message;
  part_bytes_.push_back(file_.bytes());
  shift_parts(options_.path, options_.parts);
  if (const auto error = next->move_to(options_.path)) progress_.problem = error->message;
  file_ = std::move(*next);
  next_number_ = 1;
  numbers_of_.clear();
  lists_.clear();  // whoever had no number has one now
  for (auto& follower : followers_) {
    ++numbers_of_[follower->reader().file().owner()];
    follower->start_file(next_number_++);
    write(*follower, now, true);
  }
  part_begin_bytes_ = measured_bytes_ = file_.bytes();
  measured_ns_ = now.monotonic_ns;
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
  for (const collect::Excess& each : excesses_) {
    progress_.unreadable.push_back(fmt::format("of the files of {} {} more are not recorded: {}",
                                               collect::user_name(each.owner), each.files,
                                               each.reason));
  }
  progress_.processes = processes_;
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
  collect::Moment now = collect::Moment::now();
  const std::uint64_t until_ns = now.monotonic_ns + kCatchUpNs;
  listed_ns_ = 0;  // the last chance to see what came a moment ago
  lists_.clear();
  find(now);
  do {
    now = collect::Moment::now();
    follow(now);
  } while (std::ranges::any_of(followers_, [&](const auto& each) {
    return each->is_behind() && (each->has_ended() || now.monotonic_ns < until_ns);
  }));
  for (auto& follower : followers_) {
    write(*follower, now, true);
    end(*follower, now);
  }
  followers_.clear();
  sum_up();
  return file_.finish();
}

}  // namespace ttmem::record
