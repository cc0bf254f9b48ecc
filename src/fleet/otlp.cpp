// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/otlp.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "export/protobuf.hpp"
#include "view/json_values.hpp"
#include "view/units.hpp"

namespace ttmem::fleet {
namespace {

using exports::Message;
using view::json::Json;

constexpr std::uint64_t kCumulative = 2;

// A metric of OpenTelemetry: what both writers write.
struct Point {
  Attributes attributes;
  std::uint64_t start_ns = 0;  // of a sum
  std::optional<std::int64_t> whole;
  double real = 0;  // if it is no whole number
};
enum class Shape : std::uint8_t { kGauge, kSum, kCounter };  // a sum may fall, a counter may not
struct Metric {
  std::string name, help, unit;
  Shape shape = Shape::kGauge;
  std::vector<Point> points;
};

Point point_of(const MetricSample& sample, Attributes attributes) {
  Point point;
  point.attributes = std::move(attributes);
  std::int64_t whole = 0;
  const char* end = sample.number.data() + sample.number.size();
  const auto [rest, error] = std::from_chars(sample.number.data(), end, whole);
  if (error == std::errc() && rest == end) {
    point.whole = whole;
  } else {
    point.real = std::strtod(sample.number.c_str(), nullptr);
  }
  return point;
}

double real_of(const Point& point) {
  return point.whole ? static_cast<double>(*point.whole) : point.real;
}

// "ttmem_memory_bytes" is ttmem.memory in By. What only counts has no unit: of a gauge in "1",
// which is a share, receivers make "…_ratio".
Metric named(const MetricFamily& family) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kUnits = {
      {{"_bytes", "By"},
       {"_seconds", "s"},
       {"_celsius", "Cel"},
       {"_watts", "W"},
       {"_hertz", "Hz"},
       {"_volts", "V"},
       {"_amperes", "A"},
       {"_rpm", "rpm"}}};
  Metric metric;
  metric.name = family.name;
  metric.help = family.help;
  metric.shape = family.counter ? Shape::kCounter : Shape::kGauge;
  if (metric.name.ends_with("_total")) metric.name.resize(metric.name.size() - 6);
  for (const auto& [end, unit] : kUnits) {
    if (!metric.name.ends_with(end)) continue;
    metric.name.resize(metric.name.size() - end.size());
    metric.unit = unit;
    break;
  }
  const std::size_t first = metric.name.find('_');
  if (first != std::string::npos) metric.name[first] = '.';
  return metric;
}

// ---- by the conventions for hardware

Attributes hardware(const MetricSample& sample) {
  return {{"hw.id", sample.label("unique_id")},
          {"hw.type", "gpu"},
          {"hw.name", "device " + sample.label("device")},
          {"hw.vendor", "Tenstorrent"}};
}

struct Hardware {
  Metric usage{"hw.gpu.memory.usage", "DRAM that is taken.", "By", Shape::kSum, {}};
  Metric limit{
      "hw.gpu.memory.limit", "DRAM that the allocators can give out.", "By", Shape::kSum, {}};
  Metric share{
      "hw.gpu.memory.utilization", "DRAM taken, of what can be given out.", "1", Shape::kGauge, {}};
  Metric power{"hw.power", "Power of the chip.", "W", Shape::kGauge, {}};
  Metric temperature{"hw.temperature", "Temperature of the chip.", "Cel", Shape::kGauge, {}};
};

Hardware hardware_of(const std::vector<MetricFamily>& families) {
  Hardware found;
  std::map<std::string, Point> taken;
  for (const MetricFamily& family : families) {
    for (const MetricSample& sample : family.samples) {
      const bool dram = sample.label("space") == "dram";
      Point point = point_of(sample, hardware(sample));
      if (family.name == "ttmem_memory_bytes" && dram && sample.label("figure") == "taken") {
        taken.emplace(sample.label("unique_id"), point);
        found.usage.points.push_back(std::move(point));
      } else if (family.name == "ttmem_memory_capacity_bytes" && dram) {
        found.limit.points.push_back(std::move(point));
      } else if (family.name == "ttmem_device_power_watts") {
        found.power.points.push_back(std::move(point));
      } else if (family.name == "ttmem_device_temperature_celsius") {
        found.temperature.points.push_back(std::move(point));
      }
    }
  }
  for (const Point& limit : found.limit.points) {
    const auto use = taken.find(limit.attributes.front().second);
    if (use == taken.end() || real_of(limit) <= 0) continue;
    Point share = limit;
    share.whole.reset();
    share.real = real_of(use->second) / real_of(limit);
    found.share.points.push_back(std::move(share));
  }
  return found;
}

// Since when the counters of a document count: those of a process since it started, those of the
// push since that began, all others since the daemon did.
class Starts {
 public:
  explicit Starts(const OtlpDocument& document) : push_(document.start_ns), daemon_(push_) {
    for (const MetricFamily& family : document.families) {
      for (const MetricSample& sample : family.samples) {
        if (family.name == "ttmem_self_start_time_seconds") daemon_ = time_of(sample);
        if (family.name == "ttmem_process_start_time_seconds") {
          processes_[process_of(sample)] = time_of(sample);
        }
      }
    }
  }
  std::uint64_t daemon() const { return daemon_; }
  std::uint64_t of(const MetricFamily& family, const MetricSample& sample) const {
    if (family.name.starts_with("ttmem_push_")) return push_;
    const auto process = processes_.find(process_of(sample));
    return process == processes_.end() ? daemon_ : process->second;
  }

 private:
  using Process = std::array<std::string_view, 3>;
  static Process process_of(const MetricSample& sample) {
    return {sample.label("pid"), sample.label("start"), sample.label("segment")};
  }
  static std::uint64_t time_of(const MetricSample& sample) {
    const double seconds = std::strtod(sample.number.c_str(), nullptr);
    constexpr double kMost = 9e9;  // more than the clock of a document can tell
    return seconds > 0 && seconds < kMost ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
  }

  std::map<Process, std::uint64_t> processes_;
  std::uint64_t push_, daemon_;
};

std::vector<Metric> metrics_of(const OtlpDocument& document) {
  const Starts starts(document);
  std::vector<Metric> metrics;
  for (const MetricFamily& family : document.families) {
    Metric& metric = metrics.emplace_back(named(family));
    for (const MetricSample& sample : family.samples) {
      // An empty label is none to whoever scrapes, and would be a known one here.
      Attributes attributes = sample.labels;
      std::erase_if(attributes, [](const auto& each) { return each.second.empty(); });
      metric.points.push_back(point_of(sample, std::move(attributes)));
      metric.points.back().start_ns = starts.of(family, sample);
    }
  }
  Hardware hardware = hardware_of(document.families);
  for (Metric* each : {&hardware.usage, &hardware.limit, &hardware.share, &hardware.power,
                       &hardware.temperature}) {
    for (Point& point : each->points) point.start_ns = starts.daemon();
    if (!each->points.empty()) metrics.push_back(std::move(*each));
  }
  return metrics;
}

// ---- protobuf: the numbers are those of opentelemetry/proto/metrics/v1/metrics.proto

Message message_of(const std::pair<std::string, std::string>& attribute) {
  Message value, pair;
  value.bytes(1, attribute.second);
  pair.bytes(1, attribute.first);
  pair.message(2, value);
  return pair;
}

Message message_of(const Point& point, Shape shape, const OtlpDocument& document) {
  Message message;
  if (shape != Shape::kGauge) message.fixed(2, point.start_ns);
  message.fixed(3, document.time_ns);
  if (point.whole) {
    message.fixed(6, static_cast<std::uint64_t>(*point.whole));
  } else {
    message.fixed(4, std::bit_cast<std::uint64_t>(point.real));
  }
  for (const auto& attribute : point.attributes) message.message(7, message_of(attribute));
  return message;
}

Message message_of(const Metric& metric, const OtlpDocument& document) {
  Message data;
  for (const Point& point : metric.points) {
    data.message(1, message_of(point, metric.shape, document));
  }
  if (metric.shape != Shape::kGauge) data.number(2, kCumulative);
  if (metric.shape == Shape::kCounter) data.number(3, 1);
  Message message;
  message.bytes(1, metric.name);
  message.bytes(2, metric.help);
  message.bytes(3, metric.unit);
  message.message(metric.shape == Shape::kGauge ? 5 : 7, data);
  return message;
}

// ---- JSON: 64-bit numbers are texts

Json json_of(const Attributes& attributes) {
  Json list = Json::array();
  for (const auto& [name, value] : attributes) {
    list.push_back({{"key", name}, {"value", {{"stringValue", value}}}});
  }
  return list;
}

Json json_of(const Point& point, Shape shape, const OtlpDocument& document) {
  Json value = {{"attributes", json_of(point.attributes)}};
  if (shape != Shape::kGauge) value["startTimeUnixNano"] = std::to_string(point.start_ns);
  value["timeUnixNano"] = std::to_string(document.time_ns);
  if (point.whole) {
    value["asInt"] = std::to_string(*point.whole);
  } else {
    value["asDouble"] = point.real;
  }
  return value;
}

Json json_of(const Metric& metric, const OtlpDocument& document) {
  Json data = {{"dataPoints", Json::array()}};
  for (const Point& point : metric.points) {
    data["dataPoints"].push_back(json_of(point, metric.shape, document));
  }
  Json value = {{"name", metric.name}, {"description", metric.help}, {"unit", metric.unit}};
  if (metric.shape == Shape::kGauge) {
    value["gauge"] = std::move(data);
    return value;
  }
  data["aggregationTemporality"] = kCumulative;
  data["isMonotonic"] = metric.shape == Shape::kCounter;
  value["sum"] = std::move(data);
  return value;
}

// ---- what a receiver answers

// The number at the beginning of a message, taken from it; empty if there is none.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(text.front());
    text.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// The number and the text in fields of these numbers, if they are there, up to what cannot be read.
struct NumberAndText {
  std::uint64_t number = 0;
  std::string_view text;
};
NumberAndText fields_of(std::string_view message, std::uint64_t number, std::uint64_t text) {
  constexpr std::uint64_t kNumber = 0, kText = 2;
  NumberAndText found;
  while (const auto key = take_number(message)) {
    const auto value = take_number(message);
    if (!value || (*key & 7) % kText != 0 || (*key & 7) > kText) return found;
    if ((*key & 7) == kNumber) {
      if (*key >> 3 == number) found.number = *value;
      continue;
    }
    if (*value > message.size()) return found;
    if (*key >> 3 == text) found.text = message.substr(0, *value);
    message.remove_prefix(*value);
  }
  return found;
}

OtlpRefusal refusal(std::uint64_t points, std::string_view why) {
  if (points == 0 && why.empty()) return {};
  std::string text = points == 0 ? "a warning" : view::count_text(points, "point") + " refused";
  return {points, why.empty() ? text : fmt::format("{}: {}", text, why)};
}

OtlpRefusal refusal_in_json(std::string_view answer) {
  const auto document = Json::parse(answer, nullptr, false);
  const auto partial = document.is_object() ? document.find("partialSuccess") : document.end();
  if (!document.is_object() || partial == document.end() || !partial->is_object()) return {};
  const auto points = partial->find("rejectedDataPoints"), why = partial->find("errorMessage");
  std::uint64_t number = 0;
  if (points != partial->end() && points->is_string()) {
    const std::string text = points->get<std::string>();
    std::from_chars(text.data(), text.data() + text.size(), number);
  } else if (points != partial->end() && points->is_number_unsigned()) {
    number = points->get<std::uint64_t>();
  }
  return refusal(
      number, why != partial->end() && why->is_string() ? why->get<std::string>() : std::string());
}

std::optional<int> hexadecimal_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = i + 2 < text.size() ? hexadecimal_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hexadecimal_digit(text[i + 2]) : std::nullopt;
    if (text[i] == '%' && high && low) {
      result += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string otlp_protobuf(const OtlpDocument& document) {
  Message resource, scope, scoped, all, request;
  for (const auto& attribute : document.resource) resource.message(1, message_of(attribute));
  scope.bytes(1, "ttmem");
  scope.bytes(2, TTMEM_VERSION);
  scoped.message(1, scope);
  for (const Metric& metric : metrics_of(document)) {
    scoped.message(2, message_of(metric, document));
  }
  all.message(1, resource);
  all.message(2, scoped);
  request.message(1, all);
  return request.text();
}

std::string otlp_json(const OtlpDocument& document) {
  Json metrics = Json::array();
  for (const Metric& metric : metrics_of(document)) metrics.push_back(json_of(metric, document));
  const Json scoped = {{"scope", {{"name", "ttmem"}, {"version", TTMEM_VERSION}}},
                       {"metrics", std::move(metrics)}};
  const Json all = {{"resource", {{"attributes", json_of(document.resource)}}},
                    {"scopeMetrics", Json::array({scoped})}};
  const Json request = {{"resourceMetrics", Json::array({all})}};
  return request.dump(-1, ' ', false, Json::error_handler_t::replace);
}

OtlpRefusal otlp_refusal(std::string_view answer, bool json) {
  if (json) return refusal_in_json(answer);
  const NumberAndText refused = fields_of(fields_of(answer, 0, 1).text, 1, 2);
  return refusal(refused.number, refused.text);
}

Attributes parse_attributes(std::string_view text) {
  Attributes attributes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t sign = pair.find('=');
    if (sign == pair.npos) continue;
    const std::string_view name = without_spaces(pair.substr(0, sign));
    if (name.empty()) continue;
    attributes.emplace_back(name, percent_decoded(without_spaces(pair.substr(sign + 1))));
  }
  return attributes;
}

}  // namespace ttmem::fleet
