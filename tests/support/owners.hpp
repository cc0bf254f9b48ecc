// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A process that something belongs to, for tests that make up views.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "ledger/snapshot.hpp"

namespace ttmem::test {

inline ledger::ProcessName process_named(std::int32_t pid, std::string name = "python3",
                                         bool alive = true) {
  ledger::ProcessName process;
  process.key = static_cast<std::uint64_t>(pid);
  process.pid = pid;
  process.start = 1000 + static_cast<std::uint64_t>(pid);
  process.segment = fmt::format("ttmem-{}-1-aa", pid);
  process.name = std::move(name);
  process.alive = alive;
  return process;
}

inline ledger::Owner owner(std::int32_t pid, std::string name = "python3", bool alive = true) {
  return std::make_shared<const ledger::ProcessName>(process_named(pid, std::move(name), alive));
}

}  // namespace ttmem::test
