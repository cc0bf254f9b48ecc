// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/list_rows.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "top/fleet_rows.hpp"
#include "top/sort_orders.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::add_to;

bool equal_letters(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool contains(std::string_view text, std::string_view wanted) {
  return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), equal_letters) !=
         text.end();
}

ProcessRow row_of(const ledger::ProcessView& process) {
  using ledger::DeviceFigures;
  const auto sum = [&](auto figure_of) { return over_devices(process, figure_of); };
  return {&process,
          process_id(process),
          sum([](const DeviceFigures& on) { return view::held(on.space(ledger::Space::kDram)); }),
          sum([](const DeviceFigures& on) { return l1_held(on); }),
          sum([](const DeviceFigures& on) { return on.program_l1.resident; }),
          sum([](const DeviceFigures& on) { return on.kernels.total().footprint; }),
          0};
}

// Holdings, failures, or what was held at the failure that is open.
int process_row_count(const Scene& scene) {
  const ledger::ProcessView* process = scene.process();
  if (process == nullptr) return 0;
  if (!scene.state.failures && scene.state.tree) return static_cast<int>(tree_rows(scene).size());
  if (!scene.state.failures) return static_cast<int>(group_rows(scene).size());
  if (scene.state.open_failure == 0) return static_cast<int>(process->failures.size());
  return scene.frame.process ? static_cast<int>(scene.frame.process->picture.size()) : 0;
}

std::vector<const ledger::ProgramView*> matching(const std::vector<ledger::ProgramView>& programs,
                                                 const std::string& filter) {
  std::vector<const ledger::ProgramView*> rows;
  for (const ledger::ProgramView& program : programs) {
    if (matches(filter, {program.name, program.process->name, program.line,
                         ledger::name(program.type), program.process->label()})) {
      rows.push_back(&program);
    }
  }
  return rows;
}

}  // namespace

bool matches(const std::string& filter, std::initializer_list<std::string_view> texts) {
  if (filter.empty()) return true;
  return std::any_of(texts.begin(), texts.end(),
                     [&filter](std::string_view text) { return contains(text, filter); });
}

std::string leak_text(const Scene& scene, const ledger::ProcessView& process) {
  const explain::LeakReport& leaks = scene.frame.leaks;
  const auto is_its = [&](const auto& each) { return each.process->is(process); };
  const auto suspect = std::ranges::find_if(leaks.suspects, is_its);
  if (suspect != leaks.suspects.end()) {
    return fmt::format("{} per step in {}: {} {}",
                       view::bytes_text(static_cast<std::uint64_t>(suspect->taken_per_step)),
                       view::title(suspect->space), suspect->origin.operation,
                       suspect->origin.line);
  }
  const auto falling = std::ranges::find_if(leaks.falling, is_its);
  if (falling != leaks.falling.end()) {
    return fmt::format("the lowest L1 address falls by {:.0f} B per step", falling->bytes_per_step);
  }
  const auto cache = std::ranges::find_if(leaks.caches, is_its);
  if (cache == leaks.caches.end()) return "";
  return fmt::format("{:.1f} new programs per step", cache->programs_per_step);
}

ledger::Figure l1_held(const ledger::DeviceFigures& figures) {
  if (const ledger::Figure used = figures.l1_used()) return used;
  ledger::Figure sum = view::held(figures.space(ledger::Space::kL1));
  add_to(sum, view::held(figures.space(ledger::Space::kL1Small)));
  return sum;
}

void Totals::add(const ledger::DeviceFigures& figures) {
  add_to(dram, view::held(figures.space(ledger::Space::kDram)));
  add_to(dram_capacity, figures.space(ledger::Space::kDram).capacity);
  add_to(l1, l1_held(figures));
  add_to(l1_capacity, figures.l1_capacity);
  add_to(program_l1, figures.program_l1.resident);
  add_to(kernels, figures.kernels.total().footprint);
}

std::vector<ProcessRow> process_rows(const Scene& scene, bool alive, const ListState& list) {
  std::vector<ProcessRow> rows;
  for (const ledger::ProcessView& process : scene.frame.snapshot.processes) {
    if (process.alive != alive) continue;
    if (!matches(list.filter, {process.name, process.user, process.command, process.label()})) {
      continue;
    }
    ProcessRow row = row_of(process);
    if (const Track* track = scene.history.process(row.id)) {
      row.dispatches_per_second = track->dispatches.per_second();
    }
    rows.push_back(row);
  }
  sort_rows(rows, alive ? process_orders() : dead_orders(), list);
  return rows;
}

Totals device_totals(const ledger::Snapshot& snapshot) {
  Totals totals;
  for (const ledger::DeviceView& device : snapshot.devices) totals.add(device.figures);
  // What is held on a chip of unknown size must not stand against the size of the others.
  for (const ledger::DeviceView& device : snapshot.devices) {
    if (device.processes == 0) continue;
    const ledger::DeviceFigures& figures = device.figures;
    if (!figures.space(ledger::Space::kDram).capacity) totals.dram_capacity.reset();
    if (!figures.l1_capacity) totals.l1_capacity.reset();
  }
  return totals;
}

int pid_columns(const Scene& scene, bool alive) {
  std::size_t columns = 7;  // the largest pid of a usual system
  for (const ledger::ProcessView& process : scene.frame.snapshot.processes) {
    if (process.alive == alive) columns = std::max(columns, process.label().size());
  }
  return static_cast<int>(columns);
}

std::vector<const ledger::HoldingView*> kernel_rows(const Scene& scene) {
  std::vector<const ledger::HoldingView*> rows;
  if (!scene.frame.device) return rows;
  const ListState& list = scene.state.lists[static_cast<std::size_t>(View::kDevice)];
  for (const ledger::HoldingView& kernel : scene.frame.device->kernels) {
    if (matches(list.filter, {kernel.name, kernel.source, kernel.process->name,
                              ledger::name(kernel.type), kernel.process->label()})) {
      rows.push_back(&kernel);
    }
  }
  sort_rows(rows, kernel_orders(), list);
  return rows;
}

std::vector<const ledger::ProgramView*> program_rows(const Scene& scene) {
  if (!scene.frame.programs) return {};
  const ListState& list = scene.state.lists[static_cast<std::size_t>(View::kPrograms)];
  auto rows = matching(*scene.frame.programs, list.filter);
  sort_rows(rows, program_orders(), list);
  const auto ended = ended_program_rows(scene);
  rows.insert(rows.end(), ended.begin(), ended.end());
  return rows;
}

std::vector<const ledger::ProgramView*> ended_program_rows(const Scene& scene) {
  if (!scene.state.timeline) return {};
  return matching(scene.frame.ended_programs,
                  scene.state.lists[static_cast<std::size_t>(View::kPrograms)].filter);
}

std::vector<const HoldingGroup*> group_rows(const Scene& scene) {
  std::vector<const HoldingGroup*> rows;
  if (!scene.frame.process) return rows;
  const ListState& list = scene.state.lists[static_cast<std::size_t>(View::kProcess)];
  for (const HoldingGroup& group : scene.frame.process->groups) {
    if (matches(list.filter, {group.what, group.operation, group.line})) rows.push_back(&group);
  }
  sort_rows(rows, group_orders(), list);
  return rows;
}

std::vector<const TreeRow*> tree_rows(const Scene& scene) {
  std::vector<const TreeRow*> rows;
  if (!scene.frame.process) return rows;
  const std::string& filter = scene.state.lists[static_cast<std::size_t>(View::kProcess)].filter;
  std::size_t folded_at = SIZE_MAX;  // the depth of the folded step that we are inside of
  for (const TreeRow& row : scene.frame.process->tree) {
    if (!filter.empty()) {
      if (matches(filter, {row.step.name, row.source})) rows.push_back(&row);
      continue;
    }
    if (row.step.depth > folded_at) continue;
    folded_at = scene.state.unfolded.contains(row.step.path) ? SIZE_MAX : row.step.depth;
    rows.push_back(&row);
  }
  return rows;
}

std::vector<const EventLine*> event_rows(const Scene& scene) {
  std::vector<const EventLine*> rows;
  const ListState& list = scene.state.lists[static_cast<std::size_t>(View::kEvents)];
  for (const auto& event : scene.frame.events) {
    if (matches(list.filter, {event->text})) rows.push_back(event.get());
  }
  return rows;
}

int event_selected_in(const Scene& scene, const Frame& next) {
  const int selected = scene.state.lists[static_cast<std::size_t>(View::kEvents)].selected;
  if (selected <= 0) return selected;
  const auto before = event_rows(scene);
  if (selected >= static_cast<int>(before.size())) return selected;
  const EventLine* event = before[before.size() - 1 - static_cast<std::size_t>(selected)];
  const auto after = event_rows({next, scene.history, scene.state});
  const auto found = std::find(after.begin(), after.end(), event);
  return static_cast<int>(
             std::distance(found == after.end() ? after.begin() : found, after.end())) -
         1;
}

int row_count(const Scene& scene) {
  switch (scene.state.view) {
    case View::kOverview:
      return static_cast<int>(process_rows(scene, true, scene.state.list()).size() +
                              scene.frame.snapshot.devices.size());
    case View::kDevice:
      return static_cast<int>(kernel_rows(scene).size());
    case View::kPrograms:
      return static_cast<int>(program_rows(scene).size());
    case View::kProcess:
      return process_row_count(scene);
    case View::kEvents:
      return static_cast<int>(event_rows(scene).size());
    case View::kDead:
      return static_cast<int>(process_rows(scene, false, scene.state.list()).size());
    case View::kJobs:
      return job_row_count(scene);
    case View::kHosts:
      return static_cast<int>(host_rows(scene).size());
    case View::kHost:
      return static_cast<int>(host_device_rows(scene).size());
    case View::kHelp:
      return help_lines();
  }
  return 0;
}

L1Parts l1_parts(const ledger::DeviceView& device) {
  using view::Ink;
  const ledger::DeviceFigures& figures = device.figures;
  const std::uint64_t capacity = figures.l1_capacity.value_or(0);
  const std::uint64_t used = l1_held(figures).value_or(0);
  const std::uint64_t all =
      std::uint64_t{device.l1_bytes_per_core.value_or(0)} * device.tensix_cores;
  const std::uint64_t beside = all > capacity ? all - capacity : 0;
  std::uint64_t ring = 0;
  for (const ledger::RingFigures& one : figures.rings) {
    if (one.core_type == ledger::CoreType::kTensix) {
      ring = std::max(ring, one.capacity * device.tensix_cores);
    }
  }
  ring = std::min(ring, beside);

  L1Parts result;
  const auto add = [&result](std::string_view name, Ink ink, std::uint64_t amount, char32_t mark) {
    result.names.push_back(name);
    result.parts.push_back({ink, amount, mark});
    result.whole += amount;
  };
  add("buffers", Ink::kBuffers, view::held(figures.space(ledger::Space::kL1)).value_or(0), U'█');
  if (const auto small = view::held(figures.space(ledger::Space::kL1Small)).value_or(0);
      small > 0) {
    add("L1_SMALL", Ink::kL1Small, small, U'%');
  }
  add("program L1", Ink::kProgramL1, figures.program_l1.resident.value_or(0), U'▓');
  if (ring > 0) add("ring", Ink::kRing, ring, U'▒');
  if (beside > ring) add("fixed", Ink::kFixed, beside - ring, U'░');
  add("free", Ink::kTrack, capacity > used ? capacity - used : 0, U'·');
  return result;
}

std::string device_list(const ledger::ProcessView& process) {
  std::vector<std::uint32_t> ids;
  for (const auto& device : process.devices) ids.push_back(device.id);
  return ids.empty() ? "-" : view::id_list(ids);
}

}  // namespace ttmem::top
