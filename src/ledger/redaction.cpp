// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/redaction.hpp"

#include <algorithm>

namespace ttmem::ledger {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where ":LINE" starts at the end of the text; its size if there is none.
std::size_t line_number_at(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && is_digit(text[at - 1])) --at;
  return at > 0 && at < text.size() && text[at - 1] == ':' ? at - 1 : text.size();
}

bool ends_word(char c) {
  return std::string_view(" \t\r\n\"'()[]{},;=").find(c) != std::string_view::npos;
}

}  // namespace

std::string Redaction::numbered(const char* kind, std::string_view text) {
  if (text.empty()) return "";
  const auto [known, added] = numbers_.try_emplace({kind, std::string(text)}, 0);
  if (added) known->second = ++counts_[kind];
  return std::string(kind) + "-" + std::to_string(known->second);
}

std::string Redaction::job(std::string_view name) {
  const bool is_number = name.find_first_not_of("0123456789.") == name.npos;
  return is_number ? std::string(name) : numbered("job", name);
}

std::string Redaction::line(std::string_view step) {
  // A file may have spaces in its name: the function is behind the last number of a line.
  std::size_t end = std::string_view::npos;
  for (std::size_t at = step.size(); at > 0; --at) {
    const bool stops = at == step.size() || step[at] == ' ';
    if (stops && line_number_at(step.substr(0, at)) < at) {
      end = at;
      break;
    }
  }
  if (end == std::string_view::npos) return sentence(step);
  const std::string_view head = step.substr(0, end);
  const std::size_t number = line_number_at(head);
  return path(head.substr(0, number)) + std::string(head.substr(number)) +
         std::string(step.substr(end));
}

std::string Redaction::sentence(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !ends_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.find('/') != std::string_view::npos) {
      const std::size_t number = line_number_at(word);
      all += path(word.substr(0, number)) + std::string(word.substr(number));
    } else {
      all += word;
    }
    if (end < text.size()) all += text[end++];
    at = end;
  }
  return all;
}

}  // namespace ttmem::ledger
