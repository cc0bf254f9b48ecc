// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/explain_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "view/finding_parts.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/table.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using explain::Findings;
using explain::Strip;
using explain::StripKind;

constexpr std::size_t kBarColumns = 24;
constexpr std::size_t kMostOfMessage = 400;
constexpr std::size_t kMostHolders = 5;  // all of it is to be seen at once; JSON has more

std::string sum_text(const Findings& findings) {
  const explain::BankSum& sum = findings.sum;
  if (!sum.held || !sum.holes || !sum.bank) return "";
  const std::uint64_t total = *sum.held + *sum.holes;
  std::string text = fmt::format(
      "  {}held {} B + holes {} B = {} B{}\n",
      sum.asked ? fmt::format("asked {} B   ", exact_text(*sum.asked)) : "", exact_text(sum.held),
      exact_text(sum.holes), exact_text(total),
      total == *sum.bank ? "" : fmt::format(" (the bank has {} B)", exact_text(sum.bank)));
  text += fmt::format("  largest hole {} B; figures of the {}\n", exact_text(sum.largest_hole),
                      sum.figures_from == "message" ? "runtime's message" : "picture");
  return text;
}

std::string bar(std::uint64_t part, std::uint64_t whole, StripKind kind) {
  if (whole == 0) return "";
  const auto share = static_cast<std::size_t>(
      static_cast<double>(part) / static_cast<double>(whole) * static_cast<double>(kBarColumns));
  const std::size_t columns = std::clamp<std::size_t>(share, 1, kBarColumns);
  const std::string_view texture = kind == StripKind::kHole     ? "·"
                                   : kind == StripKind::kHeld   ? "█"
                                   : kind == StripKind::kMixed  ? "▒"
                                   : kind == StripKind::kNeeded ? "?"
                                                                : "▓";
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) text += texture;
  return text;
}

std::string strip_name(const Strip& strip) {
  switch (strip.kind) {
    case StripKind::kHole:
      return "hole";
    case StripKind::kHeld:
      return strip.blocks == 1 ? printable(strip.name)
                               : fmt::format("{} x {}", strip.blocks, printable(strip.name));
    case StripKind::kMixed:
      return strip.free == 0 ? fmt::format("{} of several lines", count_text(strip.blocks, "block"))
                             : fmt::format("{}, holes of {} B", count_text(strip.blocks, "block"),
                                           exact_text(strip.free));
    case StripKind::kProgram:
      return "needed by " + printable(strip.name);
    case StripKind::kNeeded:
      return "what was asked for, over the largest hole";
  }
  return "";
}

std::string picture_text(const Findings& findings, const Style& style) {
  if (findings.picture.empty()) return "";
  std::uint64_t whole = 0;
  for (const Strip& strip : findings.picture) {
    whole = std::max(whole, strip.range.end - strip.range.begin);
  }
  Table table({{"Address", Align::kRight}, {"Bytes", Align::kRight}, {""}, {"What"}});
  for (const Strip& strip : findings.picture) {
    const std::uint64_t bytes = strip.range.end - strip.range.begin;
    const bool over = strip.kind == StripKind::kNeeded || strip.kind == StripKind::kProgram;
    table.add({exact_text(strip.range.begin), exact_text(bytes), bar(bytes, whole, strip.kind),
               strip_name(strip)},
              over                             ? Tone::kBad
              : strip.kind == StripKind::kHole ? Tone::kGood
                                               : Tone::kPlain);
  }
  return style.paint(Tone::kStrong, "One bank, bottom to top") + "\n" + table.text(style, 2);
}

std::string holders_text(const Findings& findings, ledger::TimeNs now, const Style& style) {
  if (findings.holders.empty()) return "";
  std::vector<explain::Holder> shown = findings.holders;
  shown.resize(std::min(shown.size(), kMostHolders));
  const std::uint64_t left_out =
      findings.holders_left_out + (findings.holders.size() - shown.size());
  return style.paint(Tone::kStrong, "Who is in the way") + "\n" +
         holders_table(shown, left_out, now, style);
}

std::string what_helps_text(const ExplainedFailure& failure, const Style& style) {
  const Findings& findings = failure.findings;
  std::string text = style.paint(Tone::kStrong, "What helps, cheapest first") + "\n";
  if (findings.cures.empty()) {
    text += "  Nothing that could be proved on this picture.\n";
  }
  text += cures_text(findings.cures, failure.sources);
  for (const std::string& remark : findings.remarks) text += wrapped(printable(remark), "  ", "  ");
  return text;
}

std::string devices_text(const std::vector<std::uint32_t>& devices) {
  if (devices.empty()) return "";
  return fmt::format(" on device{} {}", devices.size() == 1 ? "" : "s", id_list(devices));
}

std::string place_text(const ledger::FailureView& failure) {
  std::string text;
  if (!failure.operation.empty()) text += " in " + printable(failure.operation);
  if (!failure.line.empty()) text += " at " + printable(failure.line);
  return text;
}

// What nobody could explain is at least told.
std::string unexplained_text(const ExplainedFailure& failed) {
  const std::string& message = failed.failure.message;
  if (failed.findings.verdict != explain::Verdict::kOther || message.empty()) return "";
  return wrapped("TT-Metal said: " + cut(printable(message), kMostOfMessage), "  ", "  ");
}

}  // namespace

ExplainedFailure failure_of(const ledger::ProcessView& process,
                            const ledger::FailureView& failure) {
  const ledger::ProcessName& name = process;
  ExplainedFailure result{name, failure, {}, {}, {}};
  for (const ledger::ProcessDeviceView& device : process.devices) {
    if (std::ranges::find(failure.devices, device.unique_id) == failure.devices.end()) continue;
    result.devices.push_back(device.id);
  }
  return result;
}

std::string explain_text(const ExplainedFailure& failed, ledger::TimeNs now, const Style& style) {
  const Findings& findings = failed.findings;
  std::string text =
      wrapped(fmt::format("{} ({}), failure {}: {}{}, {} ago{}", printable(failed.process.name),
                          failed.process.label(), failed.failure.number,
                          printable(failed.failure.kind), devices_text(failed.devices),
                          age_text(failed.failure.time, now), place_text(failed.failure)),
              "", "  ");
  text += style.paint(Tone::kBad, wrapped(printable(findings.headline), "", "  "));
  text += unexplained_text(failed);
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  if (const std::string sum = sum_text(findings); !sum.empty()) {
    add(style.paint(Tone::kStrong, "Sum per bank") + "\n" + sum);
  }
  add(picture_text(findings, style));
  add(holders_text(findings, now, style));
  add(what_helps_text(failed, style));
  add(unknown_text(findings.unknown, style));
  return text;
}

std::string hint_text(const ExplainedFailure& failed, const Style& style) {
  std::string text =
      style.paint(Tone::kBad, wrapped("ttmem: " + printable(failed.findings.headline), "", "  "));
  if (!failed.findings.cures.empty()) {
    text += cures_text({failed.findings.cures.front()}, failed.sources);
  }
  return text + fmt::format("  ttmem explain --pid {} {} shows the rest.\n", failed.process.label(),
                            failed.failure.number);
}

}  // namespace ttmem::view
