// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metric_families.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "view/characters.hpp"

namespace ttmem::view {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

// Whoever scrapes refuses the whole answer for a single byte that is no UTF-8.
std::size_t append_character(std::string_view value, std::string& text) {
  const Character character = next_character(value);
  append_utf8(text, character.valid ? character.code : kReplacement);
  return character.bytes;
}

}  // namespace

void Labels::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  while (!value.empty()) {
    std::size_t taken = 1;
    if (value[0] == '\\') {
      text_ += "\\\\";
    } else if (value[0] == '"') {
      text_ += "\\\"";
    } else if (value[0] == '\n') {
      text_ += "\\n";
    } else if (is_ascii(value[0])) {
      text_ += value[0];
    } else {
      taken = append_character(value, text_);
    }
    value.remove_prefix(taken);
  }
  text_ += '"';
}

Labels Labels::with(std::string_view name, std::string_view value) const& {
  return Labels(*this).with(name, value);
}

Labels Labels::with(std::string_view name, std::string_view value) && {
  add(name, value);
  return std::move(*this);
}

template <typename Number>
void MetricFamilies::add(const char* name, const char* help, std::string_view type,
                         const Labels& labels, Number value) {
  const auto [place, is_new] = places_.try_emplace(name, families_.size());
  if (is_new) families_.push_back({name, help, type, {}});
  std::string& samples = families_[place->second].samples;
  if (labels.text().empty()) {
    fmt::format_to(std::back_inserter(samples), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(samples), "{}{{{}}} {}\n", name, labels.text(), value);
  }
}

void MetricFamilies::gauge(const char* name, const char* help, const Labels& labels,
                           std::int64_t value) {
  add(name, help, "gauge", labels, value);
}
void MetricFamilies::gauge(const char* name, const char* help, const Labels& labels,
                           std::uint64_t value) {
  add(name, help, "gauge", labels, value);
}
void MetricFamilies::gauge(const char* name, const char* help, const Labels& labels, double value) {
  // What is not a number is not known, and what is not known is absent.
  if (std::isfinite(value)) add(name, help, "gauge", labels, value);
}
void MetricFamilies::counter(const char* name, const char* help, const Labels& labels,
                             std::uint64_t value) {
  add(name, help, "counter", labels, value);
}
void MetricFamilies::counter(const char* name, const char* help, const Labels& labels,
                             double value) {
  if (std::isfinite(value)) add(name, help, "counter", labels, value);
}

std::string MetricFamilies::text() const {
  std::string text;
  for (const Family& family : families_) {
    fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", family.name,
                   family.help, family.type);
    text += family.samples;
  }
  return text;
}

}  // namespace ttmem::view
