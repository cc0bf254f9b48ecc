// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <fmt/format.h>

#include "view/labels.hpp"
#include "view/printable.hpp"
#include "view/status_sections.hpp"
#include "view/text.hpp"
#include "view/units.hpp"

namespace ttmem::view {
namespace {

using ledger::EventKind;
using ledger::EventView;

std::string device_ids(const EventView& event) {
  std::vector<std::uint32_t> ids;
  for (const ledger::EventDevice& device : event.devices) ids.push_back(device.id);
  return ids.empty() ? "-" : id_list(ids);
}

std::string tag(const EventView& event) {
  std::string text;
  if (!event.operation.empty()) text += "  " + printable(event.operation);
  if (event.operation_is_derived) text += " (derived)";
  if (!event.line.empty()) text += "  " + printable(event.line);
  return text;
}

std::string buffer_text(const EventView& event) {
  return fmt::format("{} {} requested, {} taken, id {} at {}{}{}", title(event.space),
                     bytes_text(event.requested), bytes_text(event.taken), hex_text(event.id),
                     hex_text(event.address), event.kernel_binaries ? ", kernel binaries" : "",
                     tag(event));
}

std::string change_text(std::string_view what, std::uint64_t before, std::uint64_t after) {
  if (before == after) return "";
  return fmt::format(", {} {}{}", what, after > before ? "+" : "-",
                     bytes_text(after > before ? after - before : before - after));
}

std::string program_text(const EventView& event) {
  const std::uint64_t before = event.loaded_before ? event.footprint : 0;
  const std::uint64_t after = event.loaded_after ? event.footprint : 0;
  std::string text = fmt::format("{} program {}", name(event.type), told_id_text(event.id));
  if (!event.name.empty()) text += " " + printable(event.name);
  text += ", " + count_text(event.kernels.size(), "kernel");
  text += change_text("footprint", before, after);
  text += change_text("program L1", event.l1_before, event.l1_after);
  return text + tag(event);
}

std::string trace_text(const EventView& event) {
  std::string text = "trace " + told_id_text(event.id);
  if (event.workload != 0) text += " workload " + told_id_text(event.workload);
  if (event.count > 0) text += ", " + count_text(event.count, "replay");
  return text;
}

std::string ended_text(const EventView& event) {
  return fmt::format("{}, still held {}", name(event.ended),
                     count_text(event.freed_buffers, "buffer"));
}

std::string launched_words(const EventView& event) {
  const std::string workload = "workload " + told_id_text(event.workload);
  return event.name.empty() ? workload : printable(event.name) + ", " + workload;
}

std::string id_words(std::string_view noun, std::uint64_t id) {
  return fmt::format("{} {}", noun, told_id_text(id));
}

std::string_view served_words(ledger::Served served) {
  switch (served) {
    case ledger::Served::kHit:
      return "cache hit";
    case ledger::Served::kFirstLoad:
      return "first load";
    case ledger::Served::kReload:
      return "reload";
  }
  return "";
}

std::string what(const EventView& event) {
  switch (event.kind) {
    case EventKind::kProcessStarted:
    case EventKind::kDeviceOpened:
    case EventKind::kDeviceClosed:
      return "";
    case EventKind::kProcessEnded:
      return ended_text(event);
    case EventKind::kGap:
      return count_text(event.missed, "event") + " overwritten before they were read";
    case EventKind::kAllocatorOpened:
    case EventKind::kAllocatorResized:
    case EventKind::kAllocatorCleared:
    case EventKind::kAllocatorClosed:
      return id_words("allocator", event.id);
    case EventKind::kBufferAllocated:
    case EventKind::kBufferFreed:
    case EventKind::kBufferChanged:
      return buffer_text(event);
    case EventKind::kProgramRegistered:
    case EventKind::kProgramLoaded:
    case EventKind::kProgramChanged:
    case EventKind::kProgramReleased:
      return program_text(event);
    case EventKind::kWorkloadCreated:
    case EventKind::kWorkloadChanged:
    case EventKind::kWorkloadReleased:
    case EventKind::kReloaded:
      return launched_words(event);
    case EventKind::kTraceBegun:
    case EventKind::kTraceCaptured:
    case EventKind::kTraceEnded:
    case EventKind::kTraceReplayed:
    case EventKind::kTraceReleased:
      return trace_text(event);
    case EventKind::kFailed:
      return fmt::format("{}, failure {}", printable(event.reason), event.failure);
    case EventKind::kAnomaly:
      return fmt::format("{}, id {}", printable(event.reason), hex_text(event.unknown_id));
    case EventKind::kRingFull:
      return id_words("ring manager", event.id);
    case EventKind::kLaunched:
      return fmt::format("{}, launch {}, {}", launched_words(event), event.count,
                         served_words(event.served));
    case EventKind::kStep:
      return fmt::format("step {}", event.count);
  }
  return "";
}

Tone tone(const EventView& event) {
  switch (event.kind) {
    case EventKind::kFailed:
      return Tone::kBad;
    case EventKind::kProcessEnded:
      return event.ended == ledger::Ended::kDied ? Tone::kBad : Tone::kPlain;
    case EventKind::kGap:
    case EventKind::kAnomaly:
    case EventKind::kRingFull:
      return Tone::kWarn;
    default:
      return Tone::kPlain;
  }
}

}  // namespace

std::string event_text(const EventView& event, const Style& style) {
  std::string line =
      fmt::format("{}  {:>7} {}  device {}  {}  {}", clock_text(event.time), event.process->label(),
                  pad_right(cut(printable(event.process->name), 15), 15),
                  pad_right(device_ids(event), 4), pad_right(name(event.kind), 18), what(event));
  line.resize(line.find_last_not_of(' ') + 1);
  return style.paint(tone(event), line + "\n");
}

}  // namespace ttmem::view
