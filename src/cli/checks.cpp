// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/checks.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/ask_daemon.hpp"
#include "collect/collector.hpp"
#include "collect/host_root.hpp"
#include "collect/process_description.hpp"
#include "collect/room.hpp"
#include "collect/sysfs.hpp"
#include "inject/launch/recording_check.hpp"
#include "view/units.hpp"

namespace ttmem::cli {
namespace {

// As the collector: another machine's files, for those who have no device or others to show.
collect::HostRoot looked_at_root() {
  const char* wanted = ::secure_getenv("TTMEM_HOST_ROOT");
  return collect::HostRoot(wanted != nullptr ? wanted : "");
}

Check driver_check(const collect::HostRoot& root) {
  if (const auto version = root.line("/sys/module/tenstorrent/version")) {
    return {"driver", Verdict::kPass, "tenstorrent " + *version, ""};
  }
  if (!root.list("/sys/class/tenstorrent", 1).empty()) {
    return {"driver", Verdict::kPass, "loaded; it does not tell its version", ""};
  }
  return {"driver", Verdict::kWarn, "the kernel driver `tenstorrent` is not loaded",
          "install tt-kmd if this machine has devices; mock devices need none"};
}

Check devices_check(const collect::HostRoot& root) {
  const auto devices = collect::read_sysfs(root);
  if (devices.empty()) {
    return {"devices", Verdict::kWarn, "the driver shows no device",
            "on a machine with devices: is the board seen by `lspci -d 1e52:`?"};
  }
  for (const collect::SysfsDevice& device : devices) {
    const std::string node = fmt::format("/dev/tenstorrent/{}", device.node);
    if (::access(root.full(node).c_str(), R_OK | W_OK) != 0) {
      return {"devices", Verdict::kWarn,
              fmt::format("{}, but this user may not open {}",
                          view::count_text(devices.size(), "device"), node),
              "programs of this user cannot use it: ask for the rights of its group (ls -l " +
                  node + "), or map the node into the container"};
    }
  }
  return {"devices", Verdict::kPass, view::count_text(devices.size(), "device"), ""};
}

Check directory_check() {
  const auto check = inject::check_recording();
  if (check.disabled) {
    return {"directory", Verdict::kWarn, "recording is switched off by TTMEM_DISABLE",
            "unset TTMEM_DISABLE"};
  }
  if (check.problem.empty()) return {"directory", Verdict::kPass, check.directory, ""};
  return {"directory", Verdict::kFail, "NONE: " + check.problem, check.remedy};
}

Check permissions_check() {
  collect::Collector collector(collect::Options{.directories = {}, .totals_only = true});
  collector.refresh();
  const auto& unreadable = collector.snapshot().unreadable;
  if (unreadable.empty()) return {"permissions", Verdict::kPass, "everything there is read", ""};
  std::string finding;
  for (const std::string& line : unreadable) finding += (finding.empty() ? "" : "\n") + line;
  return {"permissions", Verdict::kWarn, "not read: " + finding,
          is_kept_from(collector)
              ? "other users' processes are told by the daemon, or to members of the group ttmem"
              : "these are in no figure; whoever owns them, or root, can remove them"};
}

// Who fills a directory that has no room, the most first; "" if nobody does: it is too small.
std::string fillers_text(const collect::Room& room) {
  constexpr std::size_t kMost = 5;
  std::string text = room.shares.empty() ? "" : ". It is filled by";
  for (const collect::Room::Share& share : room.shares) {
    if (&share - room.shares.data() == kMost) break;
    text += fmt::format("\n{} of {} in {}", view::bytes_text(share.bytes),
                        collect::user_name(share.owner), view::count_text(share.files, "file"));
  }
  return text;
}

// Where a process of this user would record: the first directory with room for it.
Check room_check() {
  Check check{"room", Verdict::kFail, "",
              "let their owners remove files; `ttmem gc` removes yours"};
  for (const collect::Room& room : collect::rooms_to_record()) {
    if (!check.finding.empty()) check.finding += "\n";
    check.finding += fmt::format("{}: {} free of {}", room.path, view::bytes_text(room.free_bytes),
                                 view::bytes_text(room.total_bytes));
    if (room.has_room) {
      const bool first = check.finding.find('\n') == std::string::npos;
      check.verdict = first ? Verdict::kPass : Verdict::kWarn;
      if (first) check.remedy.clear();
      return check;
    }
    check.finding += ", no room for another process" + fillers_text(room);
  }
  if (check.finding.empty()) {
    check.finding = "there is no directory to record in";
    check.remedy = "as the check `directory` says";
  }
  return check;
}

Check silent_daemon_check() {
  if (is_daemon_there()) {
    return {"daemon", Verdict::kWarn, "one listens, but does not answer in time",
            "start it again: systemctl restart ttmem"};
  }
  if (const char* named = named_daemon()) {
    return {"daemon", Verdict::kWarn,
            fmt::format("none answers at {}, which TTMEM_SERVE names", named),
            "start one there, or unset TTMEM_SERVE; your own processes are seen without"};
  }
  return {"daemon", Verdict::kPass,
          "none answers; your own processes are seen without (`ttmem serve` starts one)", ""};
}

Check daemon_check() {
  const auto answer = ask_daemon("/healthz");
  if (const auto stranger = answer ? std::nullopt : stranger_in_its_place()) {
    return {"daemon", Verdict::kWarn,
            fmt::format("a program of the user {} listens at its address: not asked",
                        collect::user_name(*stranger)),
            "end that program, or name the daemon's own address with TTMEM_SERVE"};
  }
  if (!answer) return silent_daemon_check();
  const auto health = nlohmann::json::parse(*answer, nullptr, false);
  const std::string version =
      health.is_object() && health.contains("version") && health["version"].is_string()
          ? health["version"].get<std::string>()
          : "";
  if (version == TTMEM_VERSION) return {"daemon", Verdict::kPass, "answers, ttmem " + version, ""};
  return {"daemon", Verdict::kWarn,
          fmt::format("answers, but is ttmem {}, and this is {}",
                      version.empty() ? "of an unknown version" : version, TTMEM_VERSION),
          "start it again: systemctl restart ttmem"};
}

Check clock_check(const collect::HostRoot& root) {
  if (!root.line("/proc/sys/kernel/random/boot_id")) {
    return {"clock", Verdict::kWarn, "the id of this boot cannot be read: is /proc mounted?",
            "mount /proc; until then processes of an earlier boot cannot be told from living ones"};
  }
  const std::chrono::year_month_day today{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  const std::string date =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(today.year()),
                  static_cast<unsigned>(today.month()), static_cast<unsigned>(today.day()));
  if (today.year() < std::chrono::year{2025}) {
    return {"clock", Verdict::kWarn, "it says " + date + ", which is before ttmem was made",
            "set the clock; what is recorded until then has wrong dates"};
  }
  return {"clock", Verdict::kPass, "it says " + date + ", and the id of this boot is known", ""};
}

Check terminal_check() {
  if (isatty(STDOUT_FILENO) != 1) {
    return {"terminal", Verdict::kPass, "the output goes to no terminal", ""};
  }
  const char* term = std::getenv("TERM");
  const bool is_set = term != nullptr && *term != '\0';
  if (!is_set || std::string_view(term) == "dumb") {
    return {"terminal", Verdict::kWarn,
            fmt::format("TERM is {}, so that `ttmem top` cannot draw", is_set ? term : "not set"),
            "export TERM=xterm-256color"};
  }
  return {"terminal", Verdict::kPass, term, ""};
}

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "PASS";
    case Verdict::kWarn:
      return "WARN";
    case Verdict::kFail:
      return "FAIL";
  }
  return "FAIL";
}

std::vector<Check> host_checks() {
  const collect::HostRoot root = looked_at_root();
  return {driver_check(root), devices_check(root), directory_check(), permissions_check(),
          room_check(),       daemon_check(),      clock_check(root), terminal_check()};
}

}  // namespace ttmem::cli
