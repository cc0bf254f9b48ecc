// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The text format of Prometheus (version 0.0.4): families of samples with a help line and a type.
//
// Written here and not by a client library: those keep a registry of objects per series, which a
// snapshot that is told once does not need, and are shared libraries that a wheel cannot carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::view {

// The labels of a sample, as they stand between its braces: name="value",name="value".
class Labels {
 public:
  Labels() = default;
  Labels(std::string_view name, std::string_view value) { add(name, value); }

  // These, and one more. Whatever the value is, it stays a value: quotes are escaped,
  // and what is no UTF-8 is replaced, as in JSON.
  Labels with(std::string_view name, std::string_view value) const&;
  Labels with(std::string_view name, std::string_view value) &&;
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view name, std::string_view value);

  std::string text_;
};

// Families in the order of their first sample; a family without a sample is not written.
class MetricFamilies {
 public:
  // `name` and `help` outlive this object: they are literals.
  void gauge(const char* name, const char* help, const Labels& labels, std::int64_t value);
  void gauge(const char* name, const char* help, const Labels& labels, std::uint64_t value);
  void gauge(const char* name, const char* help, const Labels& labels, double value);
  void counter(const char* name, const char* help, const Labels& labels, std::uint64_t value);
  void counter(const char* name, const char* help, const Labels& labels, double value);
  std::string text() const;

 private:
  struct Family {
    std::string_view name, help, type;
    std::string samples;
  };
  template <typename Number>
  void add(const char* name, const char* help, std::string_view type, const Labels& labels,
           Number value);

  std::vector<Family> families_;
  std::map<std::string_view, std::size_t> places_;
};

}  // namespace ttmem::view
