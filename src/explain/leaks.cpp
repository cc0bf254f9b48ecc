// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "explain/leaks.hpp"

#include <algorithm>
#include <utility>

#include "explain/case.hpp"

namespace ttmem::explain {
namespace {

using ledger::SpacePicture;

constexpr std::uint64_t kWarmUp = 2;  // steps whose allocations are never suspected
constexpr std::size_t kSurvive = 2;   // steps that a survivor has outlived
constexpr std::size_t kPoints = 6;    // five steps between them
constexpr std::size_t kMustGrow = 4;

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

LeakWatch::Process LeakWatch::name_of(const ledger::Owner& process) {
  return {process->pid, process->start, process->segment};
}

StepFinder& LeakWatch::steps_of(const ledger::Owner& process) {
  return processes_[name_of(process)].steps;
}

bool LeakWatch::is_due(const ledger::Owner& process) const {
  const auto found = processes_.find(name_of(process));
  return found != processes_.end() && found->second.steps.count() > found->second.looked;
}

void LeakWatch::count_survivors(const LeakLook& look, const SpacePicture& space,
                                const Followed& followed) {
  const auto& begins = followed.steps.begins();
  const std::uint64_t step = followed.steps.count();
  if (step < kWarmUp + kSurvive + 1 || begins.size() <= kSurvive) return;
  const ledger::TimeNs before = begins[begins.size() - 1 - kSurvive];
  // While the list still has the third step, what is older is not counted.
  const std::uint64_t forgotten = step - begins.size();
  const ledger::TimeNs after = forgotten < kWarmUp ? begins[kWarmUp - forgotten] : begins.front();
  std::map<Key, std::uint64_t> counts;
  std::map<Key, const ledger::HeldBlock*> firsts;
  for (const ledger::HeldBlock& block : space.blocks) {
    if (!is_tensor(block.kind) || block.since >= before) continue;
    if (forgotten == 0 && block.since < after) continue;
    const ledger::HeldOrigin& origin = space.origins[block.origin];
    Key key(name_of(look.process), look.device, space.space, origin.operation, origin.line,
            origin.region, size_of(block.range));
    ++counts[key];
    const auto [first, is_new] = firsts.try_emplace(key, &block);
    if (!is_new && block.since < first->second->since) first->second = &block;
  }
  for (const auto& [key, block] : firsts) {
    const auto [known, is_new] = groups_.try_emplace(key);
    Group& group = known->second;
    if (is_new && followed.surveyed != 0) group.survivors.add(followed.surveyed, 0);
    group.told.process = look.process;
    group.told.device = look.device;
    group.told.space = space.space;
    group.told.origin = space.origins[block->origin];
    group.told.block = size_of(block->range);
    group.told.oldest = block->since;
    group.banks = space.banks;
    group.free = is_sound(space) ? free_list_of(space).free_bytes() : 0;
  }
  for (auto& [key, group] : groups_) {
    if (std::get<0>(key) != name_of(look.process) || std::get<1>(key) != look.device ||
        std::get<2>(key) != space.space) {
      continue;
    }
    const auto counted = counts.find(key);
    group.told.count = counted == counts.end() ? 0 : counted->second;
    group.survivors.add(step, group.told.count);
  }
}

void LeakWatch::look(const LeakLook& look) {
  Followed& followed = processes_[name_of(look.process)];
  const std::uint64_t step = followed.steps.count();
  followed.looked = step;
  for (const SpacePicture& space : look.spaces) {
    count_survivors(look, space, followed);
    if (space.space != ledger::Space::kL1 || step <= kWarmUp) continue;
    Place& place = places_[{name_of(look.process), look.device}];
    place.process = look.process;
    place.device = look.device;
    place.top = space.bank.end;
    const std::uint64_t lowest =
        space.blocks.empty() ? space.bank.end : space.blocks.front().range.begin;
    if (place.first_lowest == 0) place.first_lowest = lowest;
    place.depth.add(step, place.top - std::min(place.top, lowest));
    place.programs.add(step, space.programs.size());
  }
  if (step > kWarmUp + kSurvive) followed.surveyed = step;
}

LeakReport LeakWatch::report() const {
  LeakReport report;
  for (const auto& [name, followed] : processes_) {
    if (followed.steps.count() <= report.steps) continue;
    report.steps = followed.steps.count();
    report.steps_from = followed.steps.is_marked() ? "marks" : "sequence";
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
  return report;
}

}  // namespace ttmem::explain
