// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <string>
#include <utility>

#include "ledger/origins.hpp"
#include "report/moments.hpp"
#include "view/text_editor.hpp"

namespace ttmem::report {
namespace {

// What each part may have of the megabyte that a report is at most, in letters.
constexpr std::size_t kLettersOfLines = 12'000, kLettersOfStacks = 60'000;  // of each space
constexpr std::size_t kMostPrograms = 250, kMostSeries = 10;
constexpr std::size_t kMostProcesses = 150, kMostDevices = 64, kMostFailures = 12;
constexpr std::size_t kMostMessage = 2'000;
constexpr std::size_t kMostOnCore = 200;

void edit_core(ledger::CoreView& core, view::TextEditor& editor) {
  for (ledger::CoreStretch& part : core.map) {
    part.name = editor.sentence(part.name);
    editor.edit(part.owner);
  }
  for (ledger::CoreKernel& kernel : core.kernels) {
    kernel.name = editor.sentence(kernel.name);
    kernel.program = editor.sentence(kernel.program);
    editor.edit(kernel.owner);
  }
  if (core.clash) {
    core.clash->program = editor.sentence(core.clash->program);
    core.clash->buffer = editor.sentence(core.clash->buffer);
    editor.edit(core.clash->process);
  }
}

// Lines in it were edited before; the rest are words of ours and of the runtime.
void edit_findings(explain::Findings& findings, view::TextEditor& editor) {
  findings.headline = editor.sentence(findings.headline);
  for (auto* texts : {&findings.remarks, &findings.unknown}) {
    for (std::string& text : *texts) text = editor.sentence(text);
  }
}

void edit_list(HeldList& list, view::TextEditor& editor) {
  for (Held& row : list.rows) {
    for (std::string& step : row.path) step = editor.step(step);
  }
}

// The first rows whose texts have room. Keeps one.
void shorten(HeldList& list, std::size_t letters) {
  std::size_t keep = 0;
  for (const Held& row : list.rows) {
    std::size_t size = 40;  // its figures
    for (const std::string& step : row.path) size += step.size() + 3;
    if (size > letters && keep > 0) break;
    letters -= std::min(letters, size);
    ++keep;
  }
  for (std::size_t i = keep; i < list.rows.size(); ++i) {
    ++list.others;
    list.other_bytes += list.rows[i].bytes;
  }
  list.rows.resize(keep);
}

template <typename Thing>
std::uint64_t cut(std::vector<Thing>& things, std::size_t most) {
  if (things.size() <= most) return 0;
  const std::uint64_t over = things.size() - most;
  things.erase(things.begin() + static_cast<std::ptrdiff_t>(most), things.end());
  return over;
}

void shorten_series(std::vector<ledger::ProgramView>& programs) {
  std::vector<ledger::ProgramView*> launched;
  for (ledger::ProgramView& each : programs) {
    if (each.launches && !each.launches->intervals.empty()) launched.push_back(&each);
  }
  std::ranges::stable_sort(launched, std::greater(), &ledger::ProgramView::dispatches);
  for (std::size_t i = kMostSeries; i < launched.size(); ++i) launched[i]->launches.reset();
}

}  // namespace

std::string innermost(const Held& held) {
  return held.path.empty() ? "(not known)" : held.path.back();
}

void edit(Report& report, view::TextEditor& editor) {
  report.of = editor.sentence(report.of);
  for (std::string& problem : report.problems) problem = editor.sentence(problem);
  for (SpacePeak& peak : report.peaks) {
    edit_list(peak.lines, editor);
    edit_list(peak.stacks, editor);
  }
  for (ledger::ProgramView& program : report.programs) editor.edit(program);
  for (view::ExplainedFailure& each : report.failures) {
    ledger::Owner owner = std::make_shared<const ledger::ProcessName>(each.process);
    editor.edit(owner);
    each.process = *owner;
    edit_findings(each.findings, editor);
  }
  editor.edit(report.end);
  if (!report.l1) return;
  for (ledger::CoreView& core : report.l1->cores) edit_core(core, editor);
  edit_core(*report.l1->core, editor);
  for (ledger::HoldingView& holding : report.l1->holdings) editor.edit(holding);
}

void shorten(Report& report) {
  for (SpacePeak& peak : report.peaks) {
    shorten(peak.lines, kLettersOfLines);
    shorten(peak.stacks, kLettersOfStacks);
  }
  shorten_series(report.programs);
  report.other_programs += cut(report.programs, kMostPrograms);
  // The living stand first.
  report.other_processes = cut(report.end.processes, kMostProcesses);
  report.other_devices = cut(report.devices, kMostDevices);
  // The last ones are what somebody asks about.
  if (report.failures.size() > kMostFailures) {
    const std::size_t over = report.failures.size() - kMostFailures;
    report.failures.erase(report.failures.begin(),
                          report.failures.begin() + static_cast<std::ptrdiff_t>(over));
    report.other_failures += over;
  }
  for (view::ExplainedFailure& each : report.failures) {
    if (each.failure.message.size() > kMostMessage) {
      each.failure.message = ledger::cut_text(std::move(each.failure.message));
    }
  }
  if (report.l1) cut(report.l1->holdings, kMostOnCore);
}

}  // namespace ttmem::report
