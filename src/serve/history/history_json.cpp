// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "serve/history/query.hpp"
#include "view/json_values.hpp"
#include "view/units.hpp"

namespace ttmem::serve::history {
namespace {

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

// What both kinds of question have, under the same names; empty: it is none of that.
template <typename Q>
std::optional<bool> take_subject(Q& query, std::string_view name, std::string_view text) {
  if (name == "device") {
    query.device = ledger::DeviceSelector::parse(text);
    return query.device.has_value();
  }
  if (name == "pid") {
    query.process = ledger::ProcessSelector::parse(text);
    return query.process.has_value();
  }
  return std::nullopt;
}

Error wrong_subject(std::string_view name, std::string_view text) {
  const bool device = name == "device";
  return wrong(name, text,
               fmt::format("give {}", device ? ledger::DeviceSelector::kForm
                                             : ledger::ProcessSelector::kForm));
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
  } else if (const auto taken = take_subject(query, name, text)) {
    if (!*taken) return wrong_subject(name, text);
  } else if (name == "run") {
    query.run = whole<std::uint64_t>(text);
    if (!query.run) return wrong(name, text, "a run is its number in /api/v1/runs");
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
  if (const auto taken = take_subject(query, name, text)) {
    if (!*taken) return wrong_subject(name, text);
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

std::optional<Error> take(BusyQuery& query, std::string_view name, std::string_view text,
                          TimeNs now) {
  if (name == "from" || name == "to") return take_time(query, name, text, now);
  if (name != "device") return wrong(name, text, "may be device, from or to");
  query.device = ledger::DeviceSelector::parse(text);
  if (!query.device) return wrong_subject(name, text);
  return std::nullopt;
}

template <typename Q>
Result<Q> parse(Q query, const Parameters& parameters, TimeNs now) {
  for (const auto& [name, text] : parameters) {
    if (auto error = take(query, name, text, now)) return *error;
  }
  return query;
}

using view::json::Json;
using view::json::or_null;
using view::json::text_or_null;
using view::json::time_or_null;

Json head(std::string_view document) {
  return {{"schema", view::kJsonSchema}, {"document", document}};
}

std::string_view name(Subject subject) {
  return subject == Subject::kDevice ? "device" : "process";
}

Json column(const std::vector<Point>& points, std::optional<std::int64_t> Point::* which) {
  Json values = Json::array();
  for (const Point& point : points) values.push_back(or_null(point.*which));
  return values;
}

Json series(const Series& each, Subject subject) {
  const bool of_device = subject == Subject::kDevice;
  const auto unless = [](bool absent, Json value) { return absent ? Json() : std::move(value); };
  return {{"device", or_null(each.device)},
          {"unique_id", unless(!of_device, Json(view::unique_id_text(each.unique_id)))},
          {"run", or_null(each.run)},
          {"pid", unless(of_device, Json(each.pid))},
          {"process", unless(of_device, text_or_null(each.process))},
          {"min", column(each.points, &Point::min)},
          {"max", column(each.points, &Point::max)},
          {"last", column(each.points, &Point::last)}};
}

Json run_device(const RunDevice& device) {
  return {{"device", device.device},
          {"unique_id", view::unique_id_text(device.unique_id)},
          {"peak_dram", or_null(device.peak_dram)},
          {"peak_l1", or_null(device.peak_l1)},
          {"peak_l1_small", or_null(device.peak_l1_small)},
          {"peak_trace", or_null(device.peak_trace)},
          {"peak_program_l1", or_null(device.peak_program_l1)}};
}

Json run(const Run& each) {
  Json value = {{"id", each.id},
                {"pid", each.pid},
                {"start", each.start},
                {"boot_id", each.boot_id},
                {"name", each.name},
                {"user", text_or_null(each.user)},
                {"uid", each.uid},
                {"started_ns", time_or_null(each.started)},
                {"first_seen_ns", time_or_null(each.first_seen)},
                {"ended_ns", time_or_null(each.ended_at)},
                {"ended", text_or_null(each.ended)},
                {"failures", each.failures},
                {"devices", Json::array()}};
  for (const RunDevice& device : each.devices) value["devices"].push_back(run_device(device));
  return value;
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

Result<BusyQuery> parse_busy_query(const Parameters& parameters, TimeNs now) {
  constexpr TimeNs kUsual = kHour * kSecondNs;
  BusyQuery query;
  query.from = now > kUsual ? now - kUsual : 0;
  query.to = now;
  return parse(query, parameters, now);
}

std::string busy_json(const std::vector<BusyProgram>& programs) {
  Json document = head("history_programs");
  document["programs"] = Json::array();
  for (const BusyProgram& each : programs) {
    document["programs"].push_back({{"minute_s", each.minute_s},
                                    {"unique_id", view::unique_id_text(each.unique_id)},
                                    {"name", text_or_null(each.name)},
                                    {"pid", each.pid},
                                    {"process", text_or_null(each.process)},
                                    {"launches", each.launches},
                                    {"replays", each.replays}});
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string answer_json(const Answer& answer) {
  Json document = head("history");
  document["metric"] = answer.metric.name;
  document["unit"] = answer.metric.unit;
  document["from_s"] = answer.from_s;
  document["to_s"] = answer.to_s;
  document["step_s"] = answer.step_s;
  document["series"] = Json::array();
  for (const Series& each : answer.series) {
    document["series"].push_back(series(each, answer.metric.subject));
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string runs_json(const std::vector<Run>& runs) {
  Json document = head("runs");
  document["runs"] = Json::array();
  for (const Run& each : runs) document["runs"].push_back(run(each));
  return view::json::text(document, view::JsonLayout::kCompact);
}

std::string metrics_json() {
  Json document = head("history_metrics");
  document["metrics"] = Json::array();
  for (const MetricInfo& each : metrics()) {
    document["metrics"].push_back({{"name", each.name},
                                   {"unit", each.unit},
                                   {"subject", name(each.subject)},
                                   {"help", each.help}});
  }
  return view::json::text(document, view::JsonLayout::kCompact);
}

}  // namespace ttmem::serve::history
