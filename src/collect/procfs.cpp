// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/procfs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"

namespace ttmem::collect {

namespace {

constexpr std::size_t kStatBytes = 1024;

// Leaves an errno where there is no text: ENOENT and ESRCH mean that there is no such process.
std::optional<std::string> read_small(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text(kStatBytes, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::array<std::uint8_t, 16> parse_uuid(std::string_view text) {
  std::array<std::uint8_t, 16> id{};
  std::size_t digits = 0;
  for (const char c : text) {
    const auto digit = hex_digit(c);
    if (!digit || digits >= 32) continue;
    const unsigned shift = digits % 2 == 0 ? 4 : 0;
    id[digits / 2] = static_cast<std::uint8_t>(id[digits / 2] | (*digit << shift));
    ++digits;
  }
  return id;
}

// "pid:[4026531836]"
std::uint64_t read_namespace(const std::string& path) {
  char link[64] = {};
  if (::readlink(path.c_str(), link, sizeof link - 1) <= 0) return 0;
  const std::string_view text(link);
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) return 0;
  return std::strtoull(link + bracket + 1, nullptr, 10);
}

}  // namespace

std::optional<ProcessFacts> parse_stat(const std::string& text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcessFacts facts;
  facts.comm = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  rest >> facts.state;
  // The state is field 3; the start time is field 22.
  std::string skipped;
  for (int field = 4; field < 22; ++field) rest >> skipped;
  rest >> facts.start_ticks;
  if (!rest) return std::nullopt;
  return facts;
}

std::optional<bool> status_has_uid(const std::string& text, std::uint32_t uid) {
  constexpr std::string_view kField = "\nUid:";
  const std::size_t at = text.find(kField);
  if (at == std::string::npos) return std::nullopt;
  std::istringstream numbers(text.substr(at + kField.size()));
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) {
    if (!(numbers >> number)) return std::nullopt;
    if (number == uid) return true;
  }
  return false;
}

ProcFs::ProcFs(std::string root) : root_(std::move(root)) {
  if (const auto text = read_small(root_ + "/proc/sys/kernel/random/boot_id")) {
    boot_id_ = parse_uuid(*text);
  }
  pid_namespace_ = read_namespace(root_ + "/proc/self/ns/pid");
}

Result<std::optional<ProcessFacts>> ProcFs::process(std::int32_t pid) const {
  const auto text = read_small(fmt::format("{}/proc/{}/stat", root_, pid));
  if (text) return parse_stat(*text);
  const bool gone = errno == ENOENT || errno == ENOTDIR || errno == ESRCH;
  const bool hidden = errno == EACCES || errno == EPERM;
  if (hidden) return Error{ErrorCode::kNotPermitted, "this user may not see it"};
  if (!gone) return Error{ErrorCode::kSystem, "it could not be asked"};
  return std::optional<ProcessFacts>();
}

std::optional<bool> ProcFs::is_user(std::int32_t pid, std::uint32_t uid) const {
  const auto text = read_small(fmt::format("{}/proc/{}/status", root_, pid));
  return text ? status_has_uid(*text, uid) : std::nullopt;
}

std::optional<bool> ProcFs::maps(std::int32_t pid, std::uint64_t device,
                                 std::uint64_t inode) const {
  std::ifstream lines(fmt::format("{}/proc/{}/maps", root_, pid));
  if (!lines) return std::nullopt;
  const std::string wanted =
      fmt::format(" {:02x}:{:02x} {} ", gnu_dev_major(device), gnu_dev_minor(device), inode);
  std::string line;
  bool any = false;
  while (std::getline(lines, line)) {
    any = true;
    if ((line + ' ').find(wanted) != std::string::npos) return true;
  }
  if (!any) return std::nullopt;  // somebody else's: opens, and reads as nothing
  return false;
}

std::string ProcFs::boot_id_text() const {
  std::string text;
  for (std::size_t i = 0; i < boot_id_.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", boot_id_[i]);
  }
  return text;
}

}  // namespace ttmem::collect
