// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/explained.hpp"

#include <algorithm>

#include "explain/explain.hpp"
#include "top/source_lines.hpp"

namespace ttmem::cli {

std::optional<view::ExplainedFailure> explained(const collect::Collector& collector,
                                                const IsAsked& is_asked,
                                                std::optional<std::uint32_t> number) {
  const ledger::ProcessView* owner = nullptr;
  const ledger::FailureView* newest = nullptr;
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    if (!is_asked(process)) continue;
    for (const ledger::FailureView& failure : process.failures) {
      if (number && failure.number != *number) continue;
      if (newest && failure.time < newest->time) continue;
      owner = &process;
      newest = &failure;
    }
  }
  if (!newest) return std::nullopt;
  const auto picture = collector.failed_space(owner->key, newest->number);
  view::ExplainedFailure result = view::failure_of(*owner, *newest);
  result.findings = explain::explain_failure(*newest, picture ? &*picture : nullptr);
  result.sources = sources_of(result.findings.cures, collector.snapshot(), *owner);
  return result;
}

std::map<std::string, std::string> sources_of(const std::vector<explain::Cure>& cures,
                                              const ledger::Snapshot& snapshot,
                                              const ledger::ProcessName& process) {
  top::SourceLines lines;
  std::map<std::string, std::string> sources;
  const auto ran = std::ranges::find_if(
      snapshot.processes, [&](const ledger::ProcessView& each) { return each.is(process); });
  if (ran == snapshot.processes.end()) return sources;
  for (const explain::Cure& cure : cures) {
    std::string text = lines.text_of(cure.line, {snapshot.host, ran->started});
    if (!text.empty()) sources.emplace(cure.line, std::move(text));
  }
  return sources;
}

}  // namespace ttmem::cli
