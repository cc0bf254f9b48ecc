// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "serve/history/history_json.hpp"

namespace ttmem::serve::history {
namespace {

constexpr TimeNs kSecondNs = 1'000'000'000;
constexpr std::uint64_t kLatestS = 1ull << 33;  // the year 2242

Error wrong(std::string_view name, std::string_view value, std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("{}={}: {}", name, value, what)};
}

template <typename T>
std::optional<T> whole(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> seconds_of_unit(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return kHour;
    case 'd':
      return kDay;
    default:
      return std::nullopt;
  }
}

// "90", "90s", "5m", "1h", "7d".
std::optional<std::uint64_t> duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t unit = 1;
  if (const auto named = seconds_of_unit(text.back())) {
    unit = *named;
    text.remove_suffix(1);
  }
  const auto count = whole<std::uint64_t>(text);
  if (!count || *count > kLatestS / unit) return std::nullopt;
  return *count * unit;
}

std::optional<TimeNs> moment(std::string_view text, TimeNs now) {
  if (text == "now") return now;
  if (text.starts_with('-')) {
    const auto ago = duration(text.substr(1));
    if (!ago) return std::nullopt;
    return *ago * kSecondNs < now ? now - *ago * kSecondNs : 0;
  }
  // A fraction is cut off: nothing is finer than a second.
  const auto seconds = whole<std::uint64_t>(text.substr(0, text.find('.')));
  if (!seconds || *seconds > kLatestS) return std::nullopt;
  return *seconds * kSecondNs;
}

constexpr std::string_view kMoment =
    "a time is seconds since 1970, or as long ago as in -15m, -6h, -7d";
constexpr std::string_view kPid = "a pid is a whole number";

// Of both kinds of question: the fields that they share have the same names.
template <typename Q>
bool take_device(Q& query, std::string_view text) {
  if (text.starts_with("0x")) {
    query.unique_id = whole<std::uint64_t>(text.substr(2), 16);
    return query.unique_id.has_value();
  }
  return false;
}

template <typename Q>
std::optional<Error> take_time(Q& query, std::string_view name, std::string_view text, TimeNs now) {
  const auto time = moment(text, now);
  if (!time) return wrong(name, text, kMoment);
  (name == "from" ? query.from : query.to) = *time;
  return std::nullopt;
}

std::optional<Error> take(Query& query, std::string_view name, std::string_view text, TimeNs now) {
  if (name == "metric") {
    query.metric = text;
  } else if (name == "device") {
    if (take_device(query, text)) return std::nullopt;
    query.device = whole<std::uint32_t>(text);
    if (!query.device) return wrong(name, text, "a device is its id or its unique id, 0x...");
  } else if (name == "run") {
    query.run = whole<std::uint64_t>(text);
    if (!query.run) return wrong(name, text, "a run is its number in /api/v1/runs");
  } else if (name == "pid") {
    query.pid = whole<std::int32_t>(text);
    if (!query.pid) return wrong(name, text, kPid);
  } else if (name == "from" || name == "to") {
    return take_time(query, name, text, now);
  } else if (name == "step") {
    const auto step = duration(text);
    if (!step || *step == 0) return wrong(name, text, "a step is seconds, or as in 10s, 5m, 1h");
    query.step_s = static_cast<std::int64_t>(*step);
  } else {
    return wrong(name, text, "may be metric, device, run, pid, from, to or step");
  }
  return std::nullopt;
}

std::optional<Error> take(RunQuery& query, std::string_view name, std::string_view text,
                          TimeNs now) {
  if (name == "device") {
    if (!take_device(query, text)) return wrong(name, text, "give the unique id, 0x...");
  } else if (name == "pid") {
    query.pid = whole<std::int32_t>(text);
    if (!query.pid) return wrong(name, text, kPid);
  } else if (name == "name") {
    query.name = text;
  } else if (name == "from" || name == "to") {
    return take_time(query, name, text, now);
  } else if (name == "before") {
    query.before = whole<std::uint64_t>(text);
    if (!query.before) return wrong(name, text, "give the id of the last run of the page before");
  } else if (name == "limit") {
    const auto limit = whole<std::size_t>(text);
    if (!limit || *limit == 0 || *limit > kMaxRuns) {
      return wrong(name, text, "a limit is a number from 1 to 1000");
    }
    query.limit = *limit;
  } else {
    return wrong(name, text, "may be device, pid, name, from, to, before or limit");
  }
  return std::nullopt;
}

template <typename Q>
Result<Q> parse(Q query, const Parameters& parameters, TimeNs now) {
  for (const auto& [name, text] : parameters) {
    if (auto error = take(query, name, text, now)) return *error;
  }
  return query;
}

}  // namespace

Result<Query> parse_query(const Parameters& parameters, TimeNs now) {
  Query query;
  query.to = now;
  query.from = std::numeric_limits<TimeNs>::max();
  auto parsed = parse(query, parameters, now);
  if (!parsed) return parsed;
  constexpr TimeNs kUsual = kHour * kSecondNs;
  if (parsed->from == query.from) parsed->from = parsed->to > kUsual ? parsed->to - kUsual : 0;
  if (parsed->metric.empty()) {
    return Error{ErrorCode::kCorrupt, "metric is missing; /api/v1/history lists them all"};
  }
  if (parsed->from >= parsed->to) {
    return Error{ErrorCode::kCorrupt, "from must be before to"};
  }
  return parsed;
}

Result<RunQuery> parse_run_query(const Parameters& parameters, TimeNs now) {
  return parse(RunQuery{}, parameters, now);
}

}  // namespace ttmem::serve::history
