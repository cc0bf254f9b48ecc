// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What /proc says about processes, behind one class, so that tests can put another folder in its
// place. Every answer is a snapshot of something that may be gone when it arrives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace ttmem::collect {

struct ProcessFacts {
  std::uint64_t start_ticks = 0;  // field 22 of stat
  char state = '?';               // Z and X: gone, though the pid is still taken
  std::string comm;

  bool gone() const { return state == 'Z' || state == 'X' || state == 'x'; }
};

// The text of a /proc/PID/stat. The name may contain spaces and brackets: what counts comes after
// the last one.
std::optional<ProcessFacts> parse_stat(const std::string& text);

// Whether the text of a /proc/PID/status names this user as real, effective, saved or file-system
// uid; nothing if it names none.
std::optional<bool> status_has_uid(const std::string& text, std::uint32_t uid);

class ProcFs {
 public:
  // `root` stands before /proc; "" is this machine.
  explicit ProcFs(std::string root);

  bool real() const { return root_.empty(); }
  // Nothing if there is no such process. What could not be asked (no descriptor was left) is an
  // error, and says nothing about it.
  Result<std::optional<ProcessFacts>> process(std::int32_t pid) const;
  // Whether the process is, or may become again, this user: one of its four uids. Nothing if that
  // cannot be known.
  std::optional<bool> is_user(std::int32_t pid, std::uint32_t uid) const;
  // Whether the process maps the file; nothing if that may not be known.
  std::optional<bool> maps(std::int32_t pid, std::uint64_t device, std::uint64_t inode) const;

  const std::array<std::uint8_t, 16>& boot_id() const { return boot_id_; }
  std::string boot_id_text() const;
  std::uint64_t pid_namespace() const { return pid_namespace_; }  // 0 = not known

 private:
  std::string root_;
  std::array<std::uint8_t, 16> boot_id_{};
  std::uint64_t pid_namespace_ = 0;
};

}  // namespace ttmem::collect
