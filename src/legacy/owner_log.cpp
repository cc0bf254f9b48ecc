// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "legacy/owner_log.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ttmem::legacy {
namespace {

constexpr Allowance::Rate kErrorLines{.at_once = 200, .per_second = 10};
constexpr Allowance::Rate kReportBytes{.at_once = 4 << 20, .per_second = 64 << 10};

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
}

}  // namespace

void OwnerLog::report(std::uint32_t uid, std::string_view lines, Clock::time_point now) {
  Owner& owner = owners_[uid];
  if (!owner.reports.take(static_cast<double>(lines.size()), kReportBytes, now)) {
    return leave_out(uid, owner, lines);
  }
  log_.report(lines);
}

void OwnerLog::error(std::uint32_t uid, std::string_view lines, Clock::time_point now) {
  Owner& owner = owners_[uid];
  const auto count = static_cast<double>(count_lines(lines));
  if (!owner.errors.take(count, kErrorLines, now)) return leave_out(uid, owner, lines);
  log_.error(lines);
}

void OwnerLog::leave_out(std::uint32_t uid, Owner& owner, std::string_view lines) {
  const std::uint64_t count = count_lines(lines);
  if (owner.untold == 0) {
    log_.error(fmt::format("⚠️  User {} causes too many lines: they are counted, not shown\n", uid));
  }
  owner.untold += count;
  untold_ += count;
  left_out_ += count;
}

void OwnerLog::tell_left_out() {
  if (untold_ == 0) return;
  for (auto& [uid, owner] : owners_) {
    if (owner.untold == 0) continue;
    log_.error(fmt::format("⚠️  {} lines because of user {} were left out\n", owner.untold, uid));
    owner.untold = 0;
  }
  untold_ = 0;
}

}  // namespace ttmem::legacy
