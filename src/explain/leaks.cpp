// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/leaks.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::SpacePicture;

constexpr std::uint64_t kWarmUp = 2;  // steps whose allocations are never suspected
constexpr std::size_t kSurvive = 2;   // steps that a survivor has outlived
constexpr std::size_t kPoints = 6;    // five steps between them
constexpr std::size_t kMustGrow = 4;
constexpr std::size_t kMostGrowths = 64;
constexpr std::size_t kMostLines = 10'000;

// What survives was made before this moment.
ledger::TimeNs made_before(const StepFinder& steps) {
  return steps.begins()[steps.begins().size() - 1 - kSurvive];
}

// When the third step began, or the oldest one that is known.
ledger::TimeNs warm_until(const StepFinder& steps) {
  const std::uint64_t forgotten = steps.count() - steps.begins().size();
  return forgotten < kWarmUp ? steps.begins()[kWarmUp - forgotten] : steps.begins().front();
}

}  // namespace

void LeakWatch::Series::add(std::uint64_t step, std::uint64_t value) {
  if (!points.empty() && points.back().first == step) points.pop_back();
  points.emplace_back(step, value);
  if (points.size() > kPoints) points.erase(points.begin());
}

double LeakWatch::Series::growth() const {
  if (points.size() < kPoints) return 0;
  std::size_t grew = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].second < points[i - 1].second) return 0;
    grew += points[i].second > points[i - 1].second;
  }
  if (grew < kMustGrow) return 0;
  return static_cast<double>(points.back().second - points.front().second) /
         static_cast<double>(points.back().first - points.front().first);
}

bool LeakWatch::Series::is_zero() const {
  return points.size() == kPoints &&
         std::ranges::all_of(points, [](const auto& each) { return each.second == 0; });
}

void LeakWatch::Growth::add(std::uint64_t step, std::uint64_t taken) {
  if (first_step == 0) {
    first_step = step;
    first = last = taken;
  }
  fell = fell || taken < last;
  if (taken > last) grew.push_back(step);
  if (grew.size() > kMostGrowths) grew.erase(grew.begin());
  last = taken;
  last_step = step;
}

bool LeakWatch::Growth::goes_on() const {
  if (fell || grew.size() < kMustGrow) return false;
  const std::uint64_t half = first_step + (last_step - first_step) / 2;
  const auto late = std::ranges::upper_bound(grew, half);
  const bool early = late != grew.begin() || grew.size() == kMostGrowths;
  return early && grew.end() - late >= 2;
}

LeakWatch::Process LeakWatch::name_of(const ledger::Owner& process) {
  return {process->pid, process->start, process->segment};
}

bool LeakWatch::follows(const ledger::Owner& process) const {
  return processes_.contains(name_of(process));
}

StepFinder& LeakWatch::steps_of(const ledger::Owner& process) {
  Followed& followed = processes_[name_of(process)];
  followed.process = process;
  return followed.steps;
}

bool LeakWatch::is_due(const ledger::Owner& process) const {
  const auto found = processes_.find(name_of(process));
  if (found == processes_.end() || found->second.steps.count() == 0) return false;
  return found->second.steps.count() != found->second.looked;
}

LeakWatch::Survivors LeakWatch::survivors_of(const LeakLook& look, const SpacePicture& space,
                                             const Followed& followed) {
  const ledger::TimeNs before = made_before(followed.steps);
  Survivors survivors;
  for (const ledger::HeldBlock& block : space.blocks) {
    if (!is_tensor(block.kind) || block.since >= before) continue;
    if (block.since < followed.warm_until) continue;
    const ledger::HeldOrigin& origin = space.origins[block.origin];
    Key key(name_of(look.process), look.device, space.space, origin.operation, origin.line,
            origin.region, size_of(block.range));
    ++survivors.counts[key];
    const auto [first, is_new] = survivors.oldest.try_emplace(std::move(key), &block);
    if (!is_new && block.since < first->second->since) first->second = &block;
  }
  return survivors;
}

void LeakWatch::count_survivors(const LeakLook& look, const SpacePicture& space,
                                const Followed& followed) {
  const std::uint64_t step = followed.steps.count();
  const Survivors survivors = survivors_of(look, space, followed);
  add_up_lines(look, space, followed, survivors);
  const std::uint64_t free =
      !survivors.counts.empty() && is_sound(space) ? free_list_of(space).free_bytes() : 0;
  for (const auto& [key, block] : survivors.oldest) {
    const auto [known, is_new] = groups_.try_emplace(key);
    Group& group = known->second;
    if (is_new && followed.surveyed_before != 0) group.survivors.add(followed.surveyed_before, 0);
    group.told.process = look.process;
    group.told.device = look.device;
    group.told.space = space.space;
    group.told.origin = space.origins[block->origin];
    group.told.block = size_of(block->range);
    group.told.oldest = block->since;
    group.banks = space.banks;
    group.free = free;
  }
  for (auto& [key, group] : groups_) {
    if (std::get<0>(key) != name_of(look.process) || std::get<1>(key) != look.device ||
        std::get<2>(key) != space.space) {
      continue;
    }
    const auto counted = survivors.counts.find(key);
    group.told.count = counted == survivors.counts.end() ? 0 : counted->second;
    group.survivors.add(step, group.told.count);
  }
  // A loop whose blocks have another size each time would fill the memory.
  std::erase_if(groups_, [](const auto& each) { return each.second.survivors.is_zero(); });
}

// A line that has none at first begins with nothing, so that its first ones are a growth.
void LeakWatch::add_up_lines(const LeakLook& look, const SpacePicture& space,
                             const Followed& followed, const Survivors& survivors) {
  std::map<Line, std::uint64_t> taken;
  for (const auto& [key, count] : survivors.counts) {
    const auto& [process, device, where, operation, line, region, block] = key;
    taken[{process, device, where, operation, line, region}] += count * block * space.banks;
  }
  const std::uint64_t step = followed.steps.count();
  for (const auto& [line, bytes] : taken) {
    if (lines_.contains(line) || lines_.size() == kMostLines) continue;
    Growth& growth = lines_[line];
    growth.told = {look.process,
                   look.device,
                   space.space,
                   {std::get<3>(line), std::get<4>(line), std::get<5>(line)}};
    if (followed.surveyed_before != 0) growth.add(followed.first_survey, 0);
  }
  for (auto& [line, growth] : lines_) {
    if (std::get<0>(line) != name_of(look.process) || std::get<1>(line) != look.device ||
        std::get<2>(line) != space.space) {
      continue;
    }
    const auto now = taken.find(line);
    growth.add(step, now == taken.end() ? 0 : now->second);
  }
}

// Of the lowest address only survivors count: where in its step a process is looked at is chance.
void LeakWatch::look_at_l1(const LeakLook& look, const SpacePicture& l1, const Followed& followed) {
  const ledger::TimeNs before = made_before(followed.steps);
  std::uint64_t lowest = l1.bank.end;
  for (const ledger::HeldBlock& block : l1.blocks) {
    if (block.since < before) lowest = std::min(lowest, block.range.begin);
  }
  Place& place = places_[{name_of(look.process), look.device}];
  place.process = look.process;
  place.device = look.device;
  place.top = l1.bank.end;
  if (place.first_lowest == 0) place.first_lowest = lowest;
  place.depth.add(followed.steps.count(), place.top - lowest);
  place.programs.add(followed.steps.count(), l1.programs.size());
}

// The program has begun to say where its steps begin: what was counted in others does not join.
void LeakWatch::begin_anew(const Process& name, Followed& followed) {
  std::erase_if(groups_, [&](const auto& each) { return std::get<0>(each.first) == name; });
  std::erase_if(lines_, [&](const auto& each) { return std::get<0>(each.first) == name; });
  std::erase_if(places_, [&](const auto& each) { return each.first.first == name; });
  followed.looks = followed.before = 0;
  followed.surveyed = followed.surveyed_before = followed.first_survey = followed.surveys = 0;
  followed.warm_until = 0;
  followed.marked = true;
}

void LeakWatch::look(const LeakLook& look) {
  Followed& followed = processes_[name_of(look.process)];
  followed.process = look.process;
  const std::uint64_t step = followed.steps.count();
  if (followed.steps.is_marked() && !followed.marked) begin_anew(name_of(look.process), followed);
  if (followed.looks == 0) followed.before = step;
  // A process may have several devices.
  if (followed.looks == 0 || followed.looked != step) ++followed.looks;
  followed.looked = step;
  if (step < kWarmUp + kSurvive + 1 || followed.steps.begins().size() <= kSurvive) return;
  if (followed.warm_until == 0) followed.warm_until = warm_until(followed.steps);
  // All devices of a process are one survey: none of them may know a step less than the first.
  if (followed.surveyed != step) {
    followed.surveyed_before = std::exchange(followed.surveyed, step);
    if (++followed.surveys == 1) followed.first_survey = step;
  }
  for (const SpacePicture& space : look.spaces) {
    count_survivors(look, space, followed);
    if (space.space == ledger::Space::kL1) look_at_l1(look, space, followed);
  }
}

void LeakWatch::keep_only(const std::vector<ledger::Owner>& processes) {
  std::set<Process> kept;
  for (const ledger::Owner& process : processes) kept.insert(name_of(process));
  std::erase_if(processes_, [&](const auto& each) { return !kept.contains(each.first); });
  std::erase_if(groups_, [&](const auto& each) { return !kept.contains(std::get<0>(each.first)); });
  std::erase_if(lines_, [&](const auto& each) { return !kept.contains(std::get<0>(each.first)); });
  std::erase_if(places_, [&](const auto& each) { return !kept.contains(each.first.first); });
}

LeakReport LeakWatch::report() const {
  LeakReport report;
  for (const auto& [name, followed] : processes_) {
    if (followed.steps.count() == 0) continue;
    WatchedProcess watched{followed.process, 0, followed.looks, followed.steps.is_marked(), false};
    if (followed.looks > 0) watched.steps = followed.steps.count() - followed.before + 1;
    watched.is_known = followed.surveys >= kPoints;
    report.processes.push_back(watched);
    if (watched.steps <= report.steps) continue;
    report.steps = watched.steps;
    report.steps_from = watched.marked ? "marks" : "sequence";
  }
  for (const auto& [key, group] : groups_) {
    const double growth = group.survivors.growth();
    if (growth <= 0) continue;
    LeakSuspect suspect = group.told;
    suspect.blocks_per_step = growth;
    suspect.bytes_per_step = growth * static_cast<double>(suspect.block);
    suspect.taken_per_step = suspect.bytes_per_step * static_cast<double>(group.banks);
    if (group.free > 0) {
      suspect.steps_until_full = static_cast<double>(group.free) / suspect.bytes_per_step;
    }
    report.suspects.push_back(std::move(suspect));
  }
  std::ranges::stable_sort(report.suspects, std::ranges::greater{}, &LeakSuspect::taken_per_step);
  for (const auto& [name, place] : places_) {
    if (const double growth = place.depth.growth(); growth > 0) {
      report.falling.push_back({place.process, place.device, place.first_lowest,
                                place.top - place.depth.points.back().second, growth});
    }
    if (const double growth = place.programs.growth(); growth > 0) {
      report.caches.push_back(
          {place.process, place.device, place.programs.points.back().second, growth});
    }
  }
  for (const auto& [line, growth] : lines_) {
    const bool suspected = std::ranges::any_of(report.suspects, [&](const LeakSuspect& each) {
      return each.origin == growth.told.origin && each.space == growth.told.space &&
             name_of(each.process) == std::get<0>(line);
    });
    if (suspected || !growth.goes_on()) continue;
    report.lines.push_back(growth.told);
    report.lines.back().taken = growth.last - growth.first;
    report.lines.back().steps = growth.last_step - growth.first_step;
  }
  std::ranges::stable_sort(report.lines, std::ranges::greater{}, &GrowingLine::taken);
  return report;
}

}  // namespace ttmem::explain
