// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is hidden when something is given to strangers, and what stands there instead: users, hosts,
// commands, jobs and paths become "user-1", "path-7". The same text is the same number as long as
// one Redaction lives, so that what belongs together can still be seen. Names of functions,
// operations, programs and regions stay: without them nothing can be understood.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ttmem::ledger {

class Redaction {
 public:
  std::string host(std::string_view name) { return numbered("host", name); }
  std::string user(std::string_view name) { return numbered("user", name); }
  std::string command(std::string_view text) { return numbered("command", text); }
  std::string container(std::string_view name) { return numbered("container", name); }
  std::string pod(std::string_view name) { return numbered("pod", name); }
  // The number of a job stays: it names nobody.
  std::string job(std::string_view name);
  std::string segment(std::string_view name) { return numbered("segment", name); }
  std::string path(std::string_view path) { return numbered("path", path); }
  // "FILE:LINE FUNCTION": the file alone is hidden. A step of a stack that is no line stays.
  std::string line(std::string_view step);
  // A sentence: every word that has a slash in it is a path, with "file:line" behind it kept.
  std::string sentence(std::string_view text);

 private:
  std::string numbered(const char* kind, std::string_view text);
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace ttmem::ledger
