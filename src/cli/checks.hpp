// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `ttmem doctor` looks at, one check for each thing that can be wrong. Nothing is changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttmem::cli {

enum class Verdict {
  kPass,
  kWarn,  // ttmem works; something that a user might expect is missing
  kFail,  // something is not recorded
};

std::string_view name(Verdict verdict);  // "PASS"

struct Check {
  std::string id;  // the same in every release; docs/doctor.md lists them
  Verdict verdict = Verdict::kPass;
  std::string finding;
  std::string remedy;  // what to do; "" = nothing
};

// This machine and this user: driver, devices, directory, permissions, room, daemon, clock and
// terminal, in this order.
std::vector<Check> host_checks();

}  // namespace ttmem::cli
