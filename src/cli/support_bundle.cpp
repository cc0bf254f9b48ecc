// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/support_bundle.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include "cli/ask_daemon.hpp"
#include "cli/exit_code.hpp"
#include "cli/private_file.hpp"
#include "cli/reading_options.hpp"
#include "collect/collector.hpp"
#include "collect/host_root.hpp"
#include "view/json.hpp"

namespace ttmem::cli {
namespace {

constexpr std::size_t kTarBlock = 512;

// The head of one file, as POSIX 1003.1 (ustar) has it: fields of fixed places, numbers in octal.
std::array<char, kTarBlock> tar_head(std::string_view file, std::size_t size) {
  std::array<char, kTarBlock> head{};
  const auto put = [&head](std::size_t at, std::string_view text) {
    std::ranges::copy(text, head.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, file);
  put(100, "0000600");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, fmt::format("{:011o}", std::time(nullptr)));
  put(148, "        ");  // its own checksum counts as blanks
  put(156, "0");
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char each : head) sum += static_cast<unsigned char>(each);
  put(148, fmt::format("{:06o}", sum));
  head[154] = '\0';
  return head;
}

void add_file(std::string& archive, std::string_view file, std::string_view text) {
  const auto head = tar_head(file, text.size());
  archive.append(head.data(), head.size());
  archive += text;
  archive.append((kTarBlock - text.size() % kTarBlock) % kTarBlock, '\0');
}

// By a word in its name or its value, as in http://host/?token=…, or because something stands
// before an @, as a name and a password do. What is left out without need costs little.
bool is_secret(std::string_view line) {
  constexpr std::string_view kWords[] = {"TOKEN",      "KEY",  "SECRET", "PASS", "PWD",
                                         "CREDENTIAL", "AUTH", "BEARER", "@"};
  std::string upper(line);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::ranges::any_of(
      kWords, [&upper](std::string_view word) { return upper.find(word) != upper.npos; });
}

// What steers ttmem and TT-Metal, and nothing else.
std::string environment_text() {
  std::string text;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view variable = line.substr(0, line.find('='));
    if (!variable.starts_with("TT_") && !variable.starts_with("TTMEM_") &&
        !variable.starts_with("TTNN_")) {
      continue;
    }
    text += is_secret(line) ? fmt::format("{}=(left out)\n", variable) : std::string(line) + "\n";
  }
  return text;
}

std::string system_text() {
  utsname names{};
  ::uname(&names);
  const std::string release =
      collect::HostRoot("").read("/usr/lib/os-release").value_or("no os-release\n");
  return fmt::format("ttmem {}\n{} {} {} {}\n\n{}", TTMEM_VERSION, names.sysname, names.release,
                     names.version, names.machine, release);
}

std::string snapshot_text() {
  collect::Options options;
  options.host = true;
  collect::Collector collector(options);
  collector.refresh();
  ledger::Snapshot snapshot = collector.snapshot();
  for (ledger::ProcessView& process : snapshot.processes) {
    process.command.clear();
    for (ledger::FailureView& failure : process.failures) failure.message.clear();
  }
  return view::snapshot_json(snapshot, view::JsonLayout::kPretty) + "\n";
}

}  // namespace

int write_support_bundle(const std::string& path, const std::string& doctor_json) {
  auto file = PrivateFile::create(path, false, "");
  if (!file) return complain(file.error().message, kFailed);
  std::string archive;
  add_file(archive, "ttmem-support/doctor.json", doctor_json);
  add_file(archive, "ttmem-support/system.txt", system_text());
  add_file(archive, "ttmem-support/environment.txt", environment_text());
  add_file(archive, "ttmem-support/snapshot.json", snapshot_text());
  if (const auto health = ask_daemon("/healthz")) {
    add_file(archive, "ttmem-support/health.json", *health);
  }
  archive.append(2 * kTarBlock, '\0');
  file->write(archive);
  return file->finish();
}

}  // namespace ttmem::cli
