// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "view/json_read_values.hpp"
#include "view/printable.hpp"

namespace ttmem::fleet {
namespace {

using view::json::field;
using view::json::Json;

constexpr std::size_t kMostAnswerBytes = 64u << 20;

Error refused(const std::string& why) { return {ErrorCode::kSystem, why}; }

// Values are texts: "1.5e+09", also "NaN" and "+Inf".
std::optional<double> value_of(const Json& pair) {
  if (!pair.is_array() || pair.size() != 2 || !pair[1].is_string()) return std::nullopt;
  const auto& text = pair[1].get_ref<const std::string&>();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<Sample> sample_of(const Json& entry) {
  const auto value = value_of(field(entry, "value"));
  const Json& metric = field(entry, "metric");
  if (!value || !metric.is_object()) return std::nullopt;
  Sample sample;
  sample.value = *value;
  for (const auto& [name, label] : metric.items()) {
    if (label.is_string()) sample.labels.emplace(name, label.get<std::string>());
  }
  return sample;
}

}  // namespace

const std::string& Sample::label(std::string_view name) const {
  static const std::string kNone;
  const auto found = labels.find(name);
  return found == labels.end() ? kNone : found->second;
}

Result<Samples> read_samples(const std::string& body, std::vector<std::string>& warnings) {
  const Json document = Json::parse(body, nullptr, false);
  if (!document.is_object()) return refused("its answer is not that of a Prometheus API");
  for (const std::string& warning : view::json::strings(document, "warnings")) {
    if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
  }
  if (view::json::string(document, "status") != "success") {
    const std::string error = view::json::string(document, "error");
    return refused(error.empty() ? "its answer is not that of a Prometheus API"
                                 : "it says: " + view::printable(error));
  }
  const Json& result = field(field(document, "data"), "result");
  if (view::json::string(field(document, "data"), "resultType") != "vector" || !result.is_array()) {
    return refused("its answer is no vector");
  }
  if (result.size() > kMostSeries) {
    return refused(
        fmt::format("{} series are more than the {} that are looked at: choose hosts "
                    "with --match",
                    result.size(), kMostSeries));
  }
  Samples samples;
  for (const Json& entry : result) {
    if (auto sample = sample_of(entry)) samples.push_back(std::move(*sample));
  }
  return samples;
}

Result<Samples> Engine::query(const std::string& expression,
                              std::vector<std::string>& warnings) const {
  Request request;
  request.method = "POST";
  request.url = url_;
  request.url.path += "/api/v1/query";
  request.headers = headers_;
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  const auto seconds =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(timeout_).count());
  request.body = fmt::format("query={}&timeout={}s", percent_encoded(expression), seconds);
  request.timeout = timeout_;
  request.most_bytes = kMostAnswerBytes;
  const auto answer = ask(request);
  if (!answer) return answer.error();
  if (answer->body.starts_with(R"({"error":{"status":)")) {  // as `ttmem serve` refuses
    return refused(
        fmt::format("{} is no Prometheus server but a daemon of ttmem: ask it with --hosts FILE",
                    url_.authority()));
  }
  const bool says_why = answer->status == 400 || answer->status == 422 || answer->status == 503;
  if (answer->status != 200 && !says_why) {
    return refused(fmt::format("{}: {}", url_.authority(), status_text(answer->status)));
  }
  auto samples = read_samples(answer->body, warnings);
  if (samples) return samples;
  return refused(fmt::format("{}: {}", url_.authority(), samples.error().message));
}

std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace ttmem::fleet
