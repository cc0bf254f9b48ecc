// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/history.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/duration_text.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {
namespace {

constexpr std::int64_t kLongestWaitS = 60;
constexpr std::int64_t kEarliestS = 1'704'067'200;  // 2024: no clock that is right tells less
constexpr std::uint64_t kMemoryBytes = 32ull << 20;

// Renames a broken file and its journal; nothing is replaced. "" if that fails.
std::string move_aside(const std::string& path, std::int64_t now_s) {
  std::string aside = fmt::format("{}.broken-{}", path, now_s);
  std::error_code error;
  for (int i = 1; std::filesystem::exists(aside, error) && i < 100; ++i) {
    aside = fmt::format("{}.broken-{}-{}", path, now_s, i);
  }
  std::filesystem::rename(path, aside, error);
  if (error) return {};
  std::filesystem::rename(path + "-wal", aside + "-wal", error);
  return aside;
}

}  // namespace

// ---- opening -----------------------------------------------------------------------------------

History::OpenResult History::open_file(const std::string& path, const Limits& limits) {
  auto opened = Store::open(path, limits);
  if (auto* refused = std::get_if<Store::Refusal>(&opened)) return std::move(*refused);
  std::unique_ptr<History> history(
      new History(path, limits, std::move(std::get<std::unique_ptr<Store>>(opened))));
  Store& store = *history->store_;
  history->tracks_.set_lookup(
      [self = history.get()](const SeriesKey& key) { return self->store_->old_series(key); });
  if (store.load(history->devices_, history->tracks_, history->runs_, history->up_,
                 history->clocks_)) {
    return history;
  }
  return Store::Refusal{{ErrorCode::kCorrupt, fmt::format("history: cannot read {}: {}", path,
                                                          store.database().message())},
                        store.database().is_broken()};
}

Result<std::unique_ptr<History>> History::open(const std::string& path, const Limits& limits,
                                               TimeNs now) {
  OpenResult opened = open_file(path, limits);
  std::string said;
  if (const auto* refused = std::get_if<Store::Refusal>(&opened)) {
    if (!refused->broken) return refused->error;
    const std::string aside = move_aside(path, static_cast<std::int64_t>(now / kSecondNs));
    if (aside.empty()) return Error(refused->error);
    opened = open_file(path, limits);
    if (const auto* again = std::get_if<Store::Refusal>(&opened)) return again->error;
    said = fmt::format("history: {} was damaged and is kept as {}; a new one was started", path,
                       aside);
  }
  auto history = std::move(std::get<std::unique_ptr<History>>(opened));
  history->problem_ = std::move(said);
  return history;
}

History::Opened History::open_or_memory(const std::string& path, const Limits& limits, TimeNs now) {
  auto opened = open(path, limits, now);
  if (opened) {
    std::string said = (*opened)->status().problem;
    return {std::move(*opened), std::move(said)};
  }
  const std::string notice =
      fmt::format("{}. Until then the history is kept in memory", opened.error().message);
  Limits small = limits;
  small.file_bytes = std::min(small.file_bytes, kMemoryBytes);
  OpenResult memory = open_file("", small);
  auto history = std::move(std::get<std::unique_ptr<History>>(memory));
  history->problem_ = notice;
  return {std::move(history), notice};
}

std::string History::default_path(bool host_wide) {
  if (host_wide) return "/var/lib/ttmem/history.db";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/ttmem/history.db";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return std::string(home) + "/.local/state/ttmem/history.db";
}

// ---- recording ---------------------------------------------------------------------------------

TimeNs History::settle_clock(const Clocks& now) {
  const TimeNs wall = now.wall;
  const auto back_ns = static_cast<TimeNs>(limits_.clock_back_s) * kSecondNs;
  const auto last_up = static_cast<TimeNs>(std::max<std::int64_t>(up_.last_s(), 0)) * kSecondNs;
  const TimeNs latest = std::max(clock_, last_up);
  const TimeNs steady = clocks_.expected(now);
  if (ahead_ > 0 && wall + back_ns >= latest) {
    ahead_ = 0;
    note("history: the clock of this machine is right again");
  } else if (ahead_ > 0 && steady > wall) {
    ahead_ = steady - wall;
  }
  if (wall + ahead_ + back_ns < latest) {
    step_back(wall, std::max(latest, steady));
  } else if (ahead_ == 0 && steady > 0 && wall > steady + back_ns) {
    ++jumps_;
    note(fmt::format("history: the clock went ahead by {}; nothing was dropped",
                     duration_text(wall - steady)));
  } else if (ahead_ == 0 && steady > wall + back_ns) {
    ++jumps_;
    note(
        fmt::format("history: the clock went back by {}; nothing was recorded since, and "
                    "nothing was dropped",
                    duration_text(steady - wall)));
  }
  clock_ = std::max(clock_, wall + ahead_);
  clocks_.settle(now, clock_);
  return clock_;
}

// Much that is recorded is later than the clock of now, which is believed if that makes sense.
void History::step_back(TimeNs wall, TimeNs latest) {
  const auto now_s = static_cast<std::int64_t>(wall / kSecondNs);
  const auto by_s = static_cast<std::int64_t>((latest - wall) / kSecondNs);
  ++jumps_;
  here_ = false;
  if (move_back(now_s, by_s)) {
    ahead_ = 0;
    clock_ = wall;
    written_s_ = now_s;
    note(
        fmt::format("history: the clock went back by {}; what was recorded under it was moved "
                    "back as well, and nothing was dropped",
                    duration_text(latest - wall)));
  } else {
    ahead_ = latest - wall;
    note(
        fmt::format("history: the clock is {} behind what was recorded; it is not believed, and "
                    "the history goes on from there. Set the clock of this machine",
                    duration_text(latest - wall)));
  }
}

// Everything since the daemon came under the clock that now turns out wrong, if that is clear: for
// a day at most, and at a start only if there is something older.
bool History::move_back(std::int64_t now_s, std::int64_t by_s) {
  const auto from_s = up_.first_ending_after(now_s);
  const bool is_first = from_s && !up_.all().empty() && up_.all().begin()->first == *from_s;
  if (!from_s || now_s < kEarliestS || up_.seconds_from(*from_s) > kDay ||
      (clock_ == 0 && is_first)) {
    return false;
  }
  if (!store_->move_back(*from_s, by_s)) {
    cope(now_s);
    return false;
  }
  tracks_.move_back(*from_s, by_s);
  up_.move_back(*from_s, by_s);
  runs_.move_back(static_cast<TimeNs>(*from_s) * kSecondNs, static_cast<TimeNs>(by_s) * kSecondNs);
  return true;
}

void History::note(const std::string& sentence) {
  notice_ += (notice_.empty() ? "" : "; ") + sentence;
}

std::string History::take_notice() { return std::exchange(notice_, {}); }

// Notes that the daemon is there; was it a moment ago?
bool History::be_here(std::int64_t now_s) {
  const bool continuous = here_ && now_s <= up_.last_s() + limits_.absent_s;
  if (!continuous) sampler_.forget_rates();
  up_.extend(now_s, !continuous);
  up_.shorten(limits_.up_intervals);
  here_ = true;
  return continuous;
}

void History::record(const ledger::Snapshot& snapshot, const Clocks& clocks) {
  const TimeNs now = settle_clock(clocks);
  const auto now_s = static_cast<std::int64_t>(now / kSecondNs);
  const auto last_here = static_cast<TimeNs>(std::max<std::int64_t>(up_.last_s(), 0)) * kSecondNs;
  const bool continuous = be_here(now_s);
  devices_.update(snapshot);
  runs_.update(snapshot, devices_, {now, sampled_, continuous, continuous ? now : last_here},
               [this](const KnownRuns::Identity& identity) { return store_->run(identity); });
  tracks_.begin(now_s, continuous);
  sampler_.sample(snapshot, devices_, runs_, now, tracks_);
  tracks_.end();
  sampled_ = now;
  write_if_due(now_s);
}

void History::record(std::vector<BusyProgram> busy) {
  busy_.insert(busy_.end(), std::make_move_iterator(busy.begin()),
               std::make_move_iterator(busy.end()));
  if (busy_.size() <= limits_.pending_rows) return;
  const std::size_t over = busy_.size() - limits_.pending_rows;
  lost_rows_ += over;
  busy_.erase(busy_.begin(), busy_.begin() + static_cast<std::ptrdiff_t>(over));
}

// What still waits is written first: a question is rare.
Result<std::vector<BusyProgram>> History::busy_programs(const BusyQuery& asked) {
  BusyQuery query = asked;
  if (auto error = name_for_good(query.device)) return *error;
  if (!busy_.empty()) write(static_cast<std::int64_t>(clock_ / kSecondNs));
  std::vector<BusyProgram> found;
  if (store_->busy_programs(query, [&](BusyProgram each) { found.push_back(std::move(each)); })) {
    return found;
  }
  return Error{ErrorCode::kSystem,
               fmt::format("history: cannot read: {}", store_->database().message())};
}

void History::tick(const Clocks& clocks) {
  if (sampled_ == 0) return;
  const TimeNs now = settle_clock(clocks);
  const auto now_s = static_cast<std::int64_t>(now / kSecondNs);
  const bool continuous = be_here(now_s);
  if (sampler_.rates_pending()) {
    tracks_.begin(now_s, continuous);
    sampler_.settle_rates(now, tracks_);
  }
  write_if_due(now_s);
}

void History::write_if_due(std::int64_t now_s) {
  if (written_s_ == 0) written_s_ = now_s;
  const bool changed = !tracks_.rows().empty() || runs_.has_changes() || !busy_.empty();
  const std::int64_t pause = std::max(changed ? limits_.batch_s : limits_.heartbeat_s, wait_s_);
  if (now_s >= written_s_ + pause) write(now_s);
}

void History::write(std::int64_t now_s) {
  written_s_ = now_s;
  if (store_->write(devices_, tracks_, runs_, up_, clocks_, busy_, now_s)) {
    busy_.clear();
    clocks_.written();
    devices_.written();
    tracks_.written(device_metric_count());
    runs_.written();
    ++batches_;
    if (wait_s_ > 0) note("history: rows are written again");
    wait_s_ = 0;
    if (!path_.empty()) problem_.clear();
    return;
  }
  cope(now_s);
}

// The disk refuses: wait, and bound what waits. The file contradicts itself: begin another one.
void History::cope(std::int64_t now_s) {
  const Database& database = store_->database();
  if (database.is_broken()) return begin_anew(now_s);
  const bool is_new = wait_s_ == 0;
  wait_s_ = std::min(std::max(wait_s_ * 2, limits_.batch_s), kLongestWaitS);
  lost_rows_ += tracks_.shorten(limits_.pending_rows);
  problem_ = fmt::format(
      "history: cannot write {}: {}; {} changes are kept in memory and written later. {}", path_,
      database.message(), tracks_.rows().size(),
      database.is_full() ? "Free some space there." : "Make sure that the folder is writable.");
  if (is_new) note(problem_);
}

void History::begin_anew(std::int64_t now_s) {
  const std::string reason = store_->database().message();
  store_.reset();
  const std::string aside = path_.empty() ? "" : move_aside(path_, now_s);
  auto opened = Store::open(aside.empty() ? "" : path_, limits_);
  if (auto* refused = std::get_if<Store::Refusal>(&opened)) {
    problem_ = fmt::format("{}; the history continues in memory", refused->error.message);
    path_.clear();
    opened = Store::open("", limits_);
  } else if (aside.empty()) {
    problem_ = fmt::format("history: {} is damaged ({}); it continues in memory", path_, reason);
    path_.clear();
  } else {
    problem_ = fmt::format("history: {} was damaged ({}); it is kept as {}", path_, reason, aside);
  }
  store_ = std::move(std::get<std::unique_ptr<Store>>(opened));
  note(problem_);
  devices_.mark_all_dirty();
  tracks_.mark_all_dirty();
  runs_.mark_all_dirty();
}

void History::close(const Clocks& clocks) {
  if (sampled_ == 0) return;
  const TimeNs now = settle_clock(clocks);
  const auto now_s = static_cast<std::int64_t>(now / kSecondNs);
  be_here(now_s);
  write(now_s);
}

Status History::status() const {
  Status status;
  status.path = path_;
  status.problem = problem_;
  if (problem_.empty() && tracks_.refused() > 0) {
    status.problem = fmt::format(
        "history: {} figures are not kept, because {} are the limit; the oldest processes stay",
        tracks_.refused(), limits_.series);
  }
  status.file_bytes = store_->file_bytes();
  status.series = tracks_.all().size();
  status.refused_series = tracks_.refused();
  status.lost_rows = lost_rows_;
  status.batches = batches_;
  status.clock_jumps = jumps_;
  return status;
}

}  // namespace ttmem::serve::history
