// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Answers: from a question to the tier that answers it, from the rows of a series to points, with
// what still waits in memory laid over what is in the file.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "serve/history/history.hpp"
#include "serve/history/tracks.hpp"

namespace ttmem::serve::history {

// Where and how to read: whole steps, each of a whole number of the tier's.
struct Plan {
  std::size_t tier = 0;
  std::int64_t from_s = 0, to_s = 0, step_s = 0;
  std::int64_t tier_step_s() const { return kTierTable[tier].step_s; }
  std::int64_t points() const { return (to_s - from_s) / step_s; }
};

namespace {

constexpr std::array<std::int64_t, 16> kUsualSteps = {
    1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, kHour, 2 * kHour, 6 * kHour, kDay};

Error bad(std::string message) { return {ErrorCode::kCorrupt, std::move(message)}; }

std::int64_t seconds(TimeNs time) { return static_cast<std::int64_t>(time / kSecondNs); }

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return floor_to(value + step - 1, step);
}

std::int64_t step_for(std::int64_t range_s, std::int64_t points) {
  const auto fits = [&](std::int64_t step) { return range_s / step <= points; };
  const auto found = std::find_if(kUsualSteps.begin(), kUsualSteps.end(), fits);
  return found != kUsualSteps.end() ? *found : round_up(range_s / points + 1, kDay);
}

std::size_t choose_tier(std::int64_t from_s, std::int64_t step_s,
                        const std::array<std::int64_t, kTiers>& oldest_s) {
  const std::int64_t oldest = *std::min_element(oldest_s.begin(), oldest_s.end());
  const auto has = [&](std::size_t tier) { return oldest_s[tier] <= std::max(from_s, oldest); };
  for (std::size_t tier = kTiers; tier-- > 0;) {
    if (has(tier) && step_s % kTierTable[tier].step_s == 0) return tier;
  }
  std::size_t tier = 0;
  while (!has(tier)) ++tier;
  return tier;
}

// One step of an answer, put together from the rows that lie in it.
Point point_of(const Plan& plan, std::int64_t begin_s, const std::map<std::int64_t, Row>& rows,
               Value& carried, const UpTimes& up) {
  const std::int64_t end_s = begin_s + plan.step_s;
  const std::int64_t tier_step = plan.tier_step_s();
  auto row = rows.lower_bound(begin_s / tier_step);
  const auto last = rows.lower_bound(end_s / tier_step);
  const std::int64_t first_change_s = row == last ? end_s : row->first * tier_step;
  const bool held = up.touches(begin_s, first_change_s);
  Row sum;
  if (held) include(sum, carried);
  for (; row != last; ++row) {
    merge(sum, row->second);
    carried = row->second.last;
  }
  const bool there = up.touches(begin_s, end_s);
  return {sum.min, sum.max, there ? carried : Value()};
}

// The coarsest tier that has the whole time and fits the step; else the finest that has it.
// `kept_from_s`: since when each tier is complete.
Result<Plan> plan(const Query& query, const std::array<std::int64_t, kTiers>& kept_from_s,
                  std::int64_t now_s) {
  Plan plan;
  const std::int64_t from_s = seconds(query.from);
  const std::int64_t to_s = seconds(query.to + kSecondNs - 1);
  if (from_s >= to_s) return bad("from must be before to");
  if (query.step_s < 0) return bad("step must be one second or more");
  const std::int64_t range = to_s - from_s;
  const std::int64_t asked = query.step_s > 0 ? query.step_s : step_for(range, kUsualPoints);
  std::array<std::int64_t, kTiers> oldest_s{};
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    oldest_s[tier] = std::max(kept_from_s[tier], now_s - kTierTable[tier].keep_s);
  }
  plan.tier = choose_tier(from_s, asked, oldest_s);
  plan.step_s = round_up(asked, plan.tier_step_s());
  plan.from_s = floor_to(from_s, plan.step_s);
  plan.to_s = round_up(to_s, plan.step_s);
  if (plan.points() > kMaxPoints) {
    return bad(fmt::format("that is {} points, more than {}: ask for a step of {} seconds or more",
                           plan.points(), kMaxPoints, step_for(range, kMaxPoints - 2)));
  }
  return plan;
}

// `rows` by number of the tier's step; `before` is what the series was before the first of them.
std::vector<Point> lay_out(const Plan& plan, const std::map<std::int64_t, Row>& rows, Value before,
                           const UpTimes& up, std::int64_t kept_from_s) {
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(plan.points()));
  Value carried = before;
  for (std::int64_t begin_s = plan.from_s; begin_s < plan.to_s; begin_s += plan.step_s) {
    const Point point = point_of(plan, begin_s, rows, carried, up);
    points.push_back(begin_s + plan.step_s > kept_from_s ? point : Point{});
  }
  return points;
}

bool is_too_much(const Plan& plan, std::size_t series) {
  const std::int64_t slabs = (plan.to_s - plan.from_s) / plan.tier_step_s() / kSlabSteps + 1;
  return series * static_cast<std::size_t>(plan.points()) > kMaxAnswerPoints ||
         static_cast<std::int64_t>(series) * slabs > kMaxAnswerSlabs;
}

bool is_named(const KnownRun& known, const ledger::ProcessSelector& process) {
  ledger::ProcessName name;
  name.pid = known.run.pid;
  name.start = known.run.start;
  name.segment = known.segment;
  return process.matches(name);
}

}  // namespace

std::array<std::int64_t, kTiers> History::kept_from_s() const {
  std::array<std::int64_t, kTiers> kept{};
  for (std::size_t tier = 0; tier < kTiers; ++tier) kept[tier] = store_->kept_from_s(tier);
  return kept;
}

bool History::wants_device(const Query& query, std::uint64_t number) const {
  const auto found = devices_.all().find(number);
  if (found == devices_.all().end()) return false;
  const KnownDevice& device = found->second;
  if (!query.device) return true;
  return query.device->matches(device.shown_id, device.unique_id) &&
         (!query.device->id || device.present);
}

std::vector<std::uint64_t> History::runs_of(const ledger::ProcessSelector& process) {
  std::vector<std::uint64_t> ids;
  RunQuery query;
  query.process = process;
  query.limit = kMaxRuns;
  store_->runs(query, [&](const KnownRun& known) { ids.push_back(known.run.id); });
  for (const auto& [identity, known] : runs_.all()) {
    if (is_named(known, process)) ids.push_back(known.run.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<StoredSeries> History::series_for(const Query& query, std::size_t metric) {
  const bool of_device = metrics()[metric].subject == Subject::kDevice;
  std::vector<std::uint64_t> wanted;
  if (query.run) wanted = {*query.run};
  if (query.process) wanted = runs_of(*query.process);
  const bool any = !query.run && !query.process;
  std::vector<StoredSeries> found;
  std::set<std::uint64_t> known;
  for (const auto& [key, track] : tracks_.all()) {
    if (key.metric != metric) continue;
    known.insert(track.id);
    const bool matches = of_device
                             ? wants_device(query, key.subject)
                             : any || std::binary_search(wanted.begin(), wanted.end(), key.subject);
    if (matches) found.push_back({track.id, key, track.last, track.changed_s});
  }
  if (!of_device && !any && wanted.empty()) return found;
  for (const StoredSeries& each : store_->old_series(metric, wanted)) {
    if (known.contains(each.id) || (of_device && !wants_device(query, each.key.subject))) continue;
    found.push_back(each);
  }
  return found;
}

Series History::name(const StoredSeries& stored, bool of_device) {
  Series series;
  if (of_device) {
    const KnownDevice& device = devices_.all().at(stored.key.subject);
    series.unique_id = device.unique_id;
    series.device = device.shown_id;
    return series;
  }
  series.run = stored.key.subject;
  const auto live = std::find_if(runs_.all().begin(), runs_.all().end(), [&](const auto& each) {
    return each.second.run.id == stored.key.subject;
  });
  std::optional<KnownRun> known;
  if (live != runs_.all().end()) {
    known = live->second;
  } else {
    known = store_->run(stored.key.subject);
  }
  if (known) {
    series.pid = known->run.pid;
    series.process = known->run.name;
  }
  return series;
}

// What is in the file, and over it what is not there yet.
bool History::read(const Plan& plan, const StoredSeries& stored, Series& series,
                   std::int64_t now_s) {
  const std::int64_t from = plan.from_s / plan.tier_step_s();
  const std::int64_t to = plan.to_s / plan.tier_step_s();
  std::map<std::int64_t, Row> rows;
  if (!store_->rows(plan.tier, stored.id, from, to,
                    [&](std::int64_t step, const Row& row) { rows[step] = row; })) {
    return false;
  }
  tracks_.rows(plan.tier, stored.id, from, to, [&](std::int64_t step, const Row& row) {
    const auto [place, is_new] = rows.try_emplace(step, row);
    if (!is_new) merge(place->second, row);
  });
  Value before = stored.last;
  if (!rows.empty()) {
    before = rows.begin()->second.first;
  } else if (stored.changed_s >= plan.to_s) {
    const std::int64_t now_step = now_s / plan.tier_step_s();
    auto next = store_->before(plan.tier, stored.id, to, now_step);
    if (!next) next = tracks_.before(plan.tier, stored.id, to, now_step);
    before = next.value_or(Value());
  }
  series.points = lay_out(plan, rows, before, up_, store_->kept_from_s(plan.tier));
  return true;
}

Result<Answer> History::query(const Query& query, TimeNs now) {
  const auto metric = metric_number(query.metric);
  if (!metric) {
    return bad(
        fmt::format("there is no metric '{}'; /api/v1/history lists them all", query.metric));
  }
  const bool of_device = metrics()[*metric].subject == Subject::kDevice;
  if (of_device && (query.run || query.process)) {
    return bad(
        fmt::format("{} is a figure of devices: ask for a device, or for process.*", query.metric));
  }
  if (!of_device && query.device) {
    return bad(fmt::format("{} is a figure of processes: ask for a run or a pid", query.metric));
  }
  const auto now_s = static_cast<std::int64_t>(std::max(now + ahead_, clock_) / kSecondNs);
  // Who asks goes by the clock on the wall.
  Query recorded = query;
  recorded.from += ahead_;
  recorded.to += ahead_;
  const auto planned = plan(recorded, kept_from_s(), now_s);
  if (!planned) return planned.error();
  const auto ahead_s = static_cast<std::int64_t>(ahead_ / kSecondNs);
  Answer answer{
      metrics()[*metric], planned->from_s - ahead_s, planned->to_s - ahead_s, planned->step_s, {}};
  std::vector<StoredSeries> found = series_for(query, *metric);
  std::erase_if(found, [&](const StoredSeries& each) {  // over by then
    return each.changed_s < planned->from_s && !each.last &&
           (!of_device || tracks_.find(each.key) == nullptr);
  });
  if (is_too_much(*planned, found.size())) {
    return bad(
        fmt::format("{} series of {} points are too much for one answer: name a device or a run, "
                    "or ask for a shorter time or a larger step",
                    found.size(), planned->points()));
  }
  for (const StoredSeries& each : found) {
    Series series = name(each, of_device);
    if (!read(*planned, each, series, now_s)) {
      const std::string message = store_->database().message();
      if (store_->database().is_broken()) begin_anew(now_s);
      return Error{ErrorCode::kSystem, fmt::format("the history cannot be read: {}", message)};
    }
    answer.series.push_back(std::move(series));
  }
  return answer;
}

Run History::to_answer(const KnownRun& known) const {
  Run run = known.run;
  const auto figure = [](const Value& value) {
    return value ? ledger::Figure(static_cast<std::uint64_t>(*value)) : ledger::Figure();
  };
  for (const auto& [number, device] : known.devices) {
    const auto chip = devices_.all().find(number);
    if (chip == devices_.all().end()) continue;
    const auto peak = [&](ledger::Space space) {
      return figure(device.peaks[static_cast<std::size_t>(space)]);
    };
    run.devices.push_back({chip->second.unique_id, chip->second.shown_id,
                           peak(ledger::Space::kDram), peak(ledger::Space::kL1),
                           peak(ledger::Space::kL1Small), peak(ledger::Space::kTrace),
                           figure(device.peak_program_l1)});
  }
  return run;
}

bool History::has(const KnownRun& known, const RunQuery& query) const {
  const Run& run = known.run;
  const auto is_wanted = [&](const auto& device) {
    const auto chip = devices_.all().find(device.first);
    return chip != devices_.all().end() &&
           query.device->matches(chip->second.shown_id, chip->second.unique_id);
  };
  return (!query.before || run.id < *query.before) &&
         (!query.process || is_named(known, *query.process)) &&
         (query.name.empty() || run.name == query.name) &&
         (query.to == 0 || run.first_seen < query.to) &&
         (run.ended.empty() || run.ended_at >= query.from) &&
         (!query.device || std::any_of(known.devices.begin(), known.devices.end(), is_wanted));
}

std::optional<Error> History::name_for_good(std::optional<ledger::DeviceSelector>& device) const {
  if (!device || !device->id) return std::nullopt;
  const auto chip = std::ranges::find_if(devices_.all(), [&](const auto& each) {
    return each.second.present && each.second.shown_id == *device->id;
  });
  if (chip == devices_.all().end()) {
    return bad(fmt::format("there is no device {}: one that is gone is named by its unique id",
                           *device->id));
  }
  device = {std::nullopt, chip->second.unique_id};
  return std::nullopt;
}

Result<std::vector<Run>> History::runs(const RunQuery& asked, TimeNs /*now*/) {
  RunQuery query = asked;
  if (auto error = name_for_good(query.device)) return *error;
  if (query.limit == 0 || query.limit > kMaxRuns) {
    return bad(fmt::format("limit must be between 1 and {}", kMaxRuns));
  }
  std::map<std::uint64_t, Run, std::greater<>> found;  // the newest first
  if (!store_->runs(
          query, [&](const KnownRun& known) { found.emplace(known.run.id, to_answer(known)); })) {
    return Error{ErrorCode::kSystem,
                 fmt::format("the history cannot be read: {}", store_->database().message())};
  }
  for (const auto& [identity, known] : runs_.all()) {
    found.erase(known.run.id);  // the file may be a few seconds behind
    if (has(known, query)) found.emplace(known.run.id, to_answer(known));
  }
  std::vector<Run> runs;
  for (auto& [id, run] : found) {
    if (runs.size() < query.limit) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace ttmem::serve::history
