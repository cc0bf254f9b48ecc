// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

// " in ttnn.empty, model.py:3 f".
std::string place_text(const ledger::FailureView& failure) {
  std::string text;
  for (const std::string& part : {failure.operation, failure.line}) {
    if (!part.empty()) text += (text.empty() ? " in " : ", ") + printable(part);
  }
  return text;
}

std::string failure_lines(const ledger::ProcessView& process, ledger::TimeNs now,
                          const Style& style) {
  std::string text;
  std::uint64_t before = 0;
  for (const ledger::FailureView& failure : process.failures) {
    if (failure.number > before + 1) {
      text += fmt::format("  {}: {} in between\n", process_label(process),
                          count_text(failure.number - before - 1, "failure"));
    }
    before = failure.number;
    const std::string why = process.hidden
                                ? "; why is told to " + printable(process.user) + " alone"
                                : ": " + gist(failure.message);
    text +=
        fmt::format("  {}: failure {}, {} {} ago{}{}\n", process_label(process), failure.number,
                    printable(failure.kind), age_text(failure.time, now), place_text(failure), why);
  }
  if (before == 0 || process.hidden) return text;
  const std::string each = process.failures.size() > 1 ? "; each number has its own" : "";
  return text + fmt::format(
                    "    ttmem explain{3} --pid {0} {1} says why and what helps{2}\n"
                    "    ttmem dump{3} --pid {0} --failure {1} shows what was held then\n",
                    process.label(), before, each, style.past);
}

std::string anomaly_text(const std::vector<std::uint64_t>& anomalies) {
  std::string text;
  for (std::size_t kind = 0; kind < anomalies.size(); ++kind) {
    if (anomalies[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", ledger::anomaly_name(kind),
                        anomalies[kind]);
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + printable(part);
  return text;
}

std::string tracking_lines(const ledger::ProcessView& process) {
  const ledger::Tracking& tracking = process.tracking;
  std::string text;
  const auto add = [&](const std::string& what) {
    text += fmt::format("  {}: {}\n", process_label(process), what);
  };
  if (const std::string anomalies = anomaly_text(tracking.anomalies); !anomalies.empty()) {
    add("could not be matched: " + anomalies + "; totals are not affected");
  }
  if (tracking.dangling > 0) {
    add(count_text(tracking.dangling, "record") +
        " of a program, device or core set that is not there; in no total");
  }
  if (tracking.unrecorded > 0) {
    add(count_text(tracking.unrecorded, "call") + " left no trace in the table");
  }
  if (tracking.growth_stopped) add("shared memory is full; free some and recording continues");
  if (!tracking.hooks_missing.empty()) {
    add("hooks that are not bound: " + joined(tracking.hooks_missing));
  }
  if (tracking.unreached) {
    add("nothing of it is recorded: its libraries are loaded with RTLD_DEEPBIND, which hides them "
        "from the hooks (see sys.setdlopenflags)");
  }
  if (!tracking.since_open) {
    add("attached late: programs compiled before are unknown until they are compiled again");
  } else if (tracking.partial) {
    add("an earlier part is not known");
  }
  if (tracking.disconnected) add("its socket is closed; it may hold less than shown");
  if (tracking.unsettled > 0) {
    add(count_text(tracking.unsettled, "slot") + " changed at every read; look again");
  }
  if (const std::string why = no_lines_text(tracking); !why.empty()) add(why);
  if (tracking.stacks_cut) add("too many different stacks: of new ones the line alone is told");
  if (tracking.not_tmpfs) add("its segment is not in shared memory: stores may be slow");
  return text;
}

std::string contradiction_text(ledger::Contradiction contradiction) {
  switch (contradiction) {
    case ledger::Contradiction::kDram:
      return "what it says of the size of its DRAM contradicts the others";
    case ledger::Contradiction::kL1:
      return "what it says of the size of its L1 contradicts the others";
    default:
      return "it claims to hold more than there is";
  }
}

// Who is not believed is named with its owner: the figures of a device are without it.
std::string contradiction_lines(const ledger::ProcessView& process) {
  std::string text;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    // Of a false claim the lines of what is not read tell.
    if (device.counts() || device.contradiction == ledger::Contradiction::kProcess) continue;
    text += fmt::format("  {} of {}: device {}: {}; not in the figures of the device\n",
                        process_label(process), printable(process.user), device.id,
                        contradiction_text(device.contradiction));
  }
  return text;
}

// Of another user's machine full of chips there are many, for one reason.
std::string unreadable_lines(const std::vector<std::string>& unreadable) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (const std::string& each : unreadable | std::views::take(kMost)) {
    text += "  not read: " + printable(each) + "\n";
  }
  if (unreadable.size() > kMost) {
    text += fmt::format("  and {} more not read: --json lists them\n", unreadable.size() - kMost);
  }
  return text;
}

}  // namespace

std::string no_lines_text(const ledger::Tracking& tracking) {
  if (tracking.lines != ledger::Lines::kRefused) return "";
  return "no lines of Python are told: " + printable(tracking.lines_reason);
}

std::string unlisted_text(const ledger::Snapshot& snapshot) {
  std::string text;
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (!process.alive || !std::ranges::count(process.sources, ledger::Source::kDaemon)) continue;
    std::string parts;
    for (const ledger::Space which : ledger::kDeviceSpaces) {
      const ledger::Figure bytes = over_devices(
          process, [which](const ledger::DeviceFigures& of) { return held(of.space(which)); });
      if (bytes.value_or(0) == 0) continue;
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", title(which), bytes_text(bytes));
    }
    if (parts.empty()) continue;
    text += fmt::format("not listed: {} of {} of {}, which you may not read\n", parts,
                        process_label(process), printable(process.user));
  }
  return text;
}

std::string gist(const std::string& message) {
  constexpr std::string_view kMark = "info:\n";
  const std::size_t mark = message.find(kMark);
  const std::size_t begin = mark == std::string::npos ? 0 : mark + kMark.size();
  return printable(std::string_view(message).substr(begin, message.find('\n', begin) - begin));
}

std::string notices(const ledger::Snapshot& snapshot, const Style& style) {
  std::string failures, others;
  for (const ledger::ProcessView& process : snapshot.processes) {
    failures += failure_lines(process, snapshot.time, style);
    if (process.alive) others += tracking_lines(process);
    others += contradiction_lines(process);
  }
  others += unreadable_lines(snapshot.unreadable);
  std::string text;
  if (!failures.empty()) text += style.paint(Tone::kBad, "Failures") + "\n" + failures;
  if (!others.empty()) text += style.paint(Tone::kWarn, "Notices") + "\n" + others;
  return text;
}

}  // namespace ttmem::view
