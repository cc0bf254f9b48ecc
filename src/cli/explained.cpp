// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/explained.hpp"

#include "explain/explain.hpp"
#include "top/source_lines.hpp"

namespace ttmem::cli {
namespace {

bool is_selected(const view::Selection& selection, const ledger::ProcessName& process) {
  return !selection.process() || selection.process()->matches(process);
}

}  // namespace

std::optional<view::ExplainedFailure> explained(const collect::Collector& collector,
                                                const view::Selection& selection,
                                                std::optional<std::uint32_t> number) {
  const ledger::ProcessView* owner = nullptr;
  const ledger::FailureView* newest = nullptr;
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (!is_selected(selection, process)) continue;
    for (const ledger::FailureView& failure : process.failures) {
      if (number && failure.number != *number) continue;
      if (newest && failure.time < newest->time) continue;
      owner = &process;
      newest = &failure;
    }
  }
  if (!newest) return std::nullopt;
  const auto picture = collector.failed_space(owner->key, newest->number);
  const ledger::ProcessName& name = *owner;
  view::ExplainedFailure result{name, *newest, {}, {}};
  result.findings = explain::explain_failure(*newest, picture ? &*picture : nullptr);
  result.sources = sources_of(result.findings.cures);
  return result;
}

std::map<std::string, std::string> sources_of(const std::vector<explain::Cure>& cures) {
  top::SourceLines lines;
  std::map<std::string, std::string> sources;
  for (const explain::Cure& cure : cures) {
    std::string text = lines.text_of(cure.line);
    if (!text.empty()) sources.emplace(cure.line, std::move(text));
  }
  return sources;
}

}  // namespace ttmem::cli
