// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/reading.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace ttmem::serve::history {
namespace {

constexpr TimeNs kSecondNs = 1'000'000'000;
constexpr std::array<std::int64_t, 16> kUsualSteps = {
    1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, kHour, 2 * kHour, 6 * kHour, kDay};

std::int64_t seconds(TimeNs time) { return static_cast<std::int64_t>(time / kSecondNs); }

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return floor_to(value + step - 1, step);
}

std::int64_t step_for(std::int64_t range_s, std::int64_t points) {
  const auto fits = [&](std::int64_t step) { return range_s / step <= points; };
  const auto found = std::find_if(kUsualSteps.begin(), kUsualSteps.end(), fits);
  return found != kUsualSteps.end() ? *found : round_up(range_s / points + 1, kDay);
}

std::size_t choose_tier(std::int64_t from_s, std::int64_t step_s,
                        const std::array<std::int64_t, kTiers>& oldest_s) {
  const std::int64_t oldest = *std::min_element(oldest_s.begin(), oldest_s.end());
  const auto has = [&](std::size_t tier) { return oldest_s[tier] <= std::max(from_s, oldest); };
  for (std::size_t tier = kTiers; tier-- > 0;) {
    if (has(tier) && step_s % kTierTable[tier].step_s == 0) return tier;
  }
  std::size_t tier = 0;
  while (!has(tier)) ++tier;
  return tier;
}

// One step of an answer, put together from the rows that lie in it.
Point point_of(const Plan& plan, std::int64_t begin_s, const std::map<std::int64_t, Row>& rows,
               Value& carried, const UpTimes& up) {
  const std::int64_t end_s = begin_s + plan.step_s;
  const std::int64_t tier_step = plan.tier_step_s();
  auto row = rows.lower_bound(begin_s / tier_step);
  const auto last = rows.lower_bound(end_s / tier_step);
  const std::int64_t first_change_s = row == last ? end_s : row->first * tier_step;
  const bool held = up.touches(begin_s, first_change_s);
  Row sum;
  if (held) include(sum, carried);
  for (; row != last; ++row) {
    merge(sum, row->second);
    carried = row->second.last;
  }
  const bool there = up.touches(begin_s, end_s);
  return {sum.min, sum.max, there ? carried : Value()};
}

}  // namespace

Result<Plan> plan(const Query& query, const std::array<std::int64_t, kTiers>& kept_from_s,
                  std::int64_t now_s) {
  const auto wrong = [](std::string message) {
    return Error{ErrorCode::kCorrupt, std::move(message)};
  };
  Plan plan;
  const std::int64_t from_s = seconds(query.from);
  const std::int64_t to_s = seconds(query.to + kSecondNs - 1);
  if (from_s >= to_s) return wrong("from must be before to");
  if (query.step_s < 0) return wrong("step must be one second or more");
  const std::int64_t range = to_s - from_s;
  const std::int64_t asked = query.step_s > 0 ? query.step_s : step_for(range, kUsualPoints);
  std::array<std::int64_t, kTiers> oldest_s{};
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    oldest_s[tier] = std::max(kept_from_s[tier], now_s - kTierTable[tier].keep_s);
  }
  plan.tier = choose_tier(from_s, asked, oldest_s);
  plan.step_s = round_up(asked, plan.tier_step_s());
  plan.from_s = floor_to(from_s, plan.step_s);
  plan.to_s = round_up(to_s, plan.step_s);
  if (plan.points() > kMaxPoints) {
    return wrong(
        fmt::format("that is {} points, more than {}: ask for a step of {} seconds or more",
                    plan.points(), kMaxPoints, step_for(range, kMaxPoints - 2)));
  }
  return plan;
}

std::vector<Point> lay_out(const Plan& plan, const std::map<std::int64_t, Row>& rows, Value before,
                           const UpTimes& up, std::int64_t kept_from_s) {
  std::vector<Point> points;
  points.reserve(static_cast<std::size_t>(plan.points()));
  Value carried = before;
  for (std::int64_t begin_s = plan.from_s; begin_s < plan.to_s; begin_s += plan.step_s) {
    const Point point = point_of(plan, begin_s, rows, carried, up);
    points.push_back(begin_s + plan.step_s > kept_from_s ? point : Point{});
  }
  return points;
}

}  // namespace ttmem::serve::history
