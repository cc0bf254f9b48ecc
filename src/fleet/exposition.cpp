// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/exposition.hpp"

#include <algorithm>
#include <optional>

namespace ttmem::fleet {
namespace {

const Error kNotOurs{ErrorCode::kWrongKind,
                     "what the daemon answers is not the text format of Prometheus"};

// The value behind an opening quote; takes it and its closing quote off `text`.
std::optional<std::string> take_value(std::string_view& text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] != '\\') {
      value += text[i];
    } else if (++i < text.size()) {
      value += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return std::nullopt;
}

// name="value",name="value"} number
bool take_labels(std::string_view& text, MetricSample& sample) {
  while (!text.starts_with('}')) {
    const std::size_t sign = text.find("=\"");
    if (sign == text.npos) return false;
    std::string name(text.substr(0, sign));
    text.remove_prefix(sign + 2);
    auto value = take_value(text);
    if (!value) return false;
    sample.labels.emplace_back(std::move(name), std::move(*value));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  text.remove_prefix(1);
  return true;
}

bool add_sample(std::string_view line, std::vector<MetricFamily>& families) {
  const std::size_t end = line.find_first_of("{ ");
  if (families.empty() || end == line.npos || line.substr(0, end) != families.back().name) {
    return false;
  }
  MetricSample sample;
  const bool labelled = line[end] == '{';
  line.remove_prefix(labelled ? end + 1 : end);
  if (labelled && !take_labels(line, sample)) return false;
  if (!line.starts_with(' ') || line.size() < 2) return false;
  sample.number = line.substr(1);
  families.back().samples.push_back(std::move(sample));
  return true;
}

// "# HELP name text", "# TYPE name type"
bool add_comment(std::string_view line, std::vector<MetricFamily>& families) {
  const bool help = line.starts_with("# HELP ");
  if (!help && !line.starts_with("# TYPE ")) return true;
  line.remove_prefix(7);
  const std::size_t space = line.find(' ');
  if (space == line.npos) return false;
  if (help) {
    families.push_back(
        {std::string(line.substr(0, space)), std::string(line.substr(space + 1)), false, {}});
    return true;
  }
  if (families.empty() || families.back().name != line.substr(0, space)) return false;
  families.back().counter = line.substr(space + 1) == "counter";
  return true;
}

}  // namespace

const std::string& MetricSample::label(std::string_view name) const {
  static const std::string kNone;
  const auto found = std::ranges::find(
      labels, name, [](const auto& each) -> const std::string& { return each.first; });
  return found == labels.end() ? kNone : found->second;
}

Result<std::vector<MetricFamily>> read_exposition(std::string_view text) {
  std::vector<MetricFamily> families;
  std::size_t samples = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const bool is_comment = line.starts_with('#');
    if (!(is_comment ? add_comment(line, families) : add_sample(line, families))) return kNotOurs;
    if (!is_comment && ++samples > kMostPushedSamples) {
      return Error{ErrorCode::kCorrupt,
                   "the daemon tells too many series to be pushed: let it "
                   "tell less (--collect)"};
    }
  }
  if (families.empty()) return kNotOurs;
  return families;
}

}  // namespace ttmem::fleet
