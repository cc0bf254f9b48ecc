// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "view/metric_families.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace ttmem::view {

void Labels::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  for (const char character : value) {
    switch (character) {
      case '\\':
        text_ += "\\\\";
        break;
      case '"':
        text_ += "\\\"";
        break;
      case '\n':
        text_ += "\\n";
        break;
      default:
        text_ += character;
    }
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
