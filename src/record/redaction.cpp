// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "record/redaction.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "segment/reader_header.hpp"

namespace ttmem::record {

namespace {

constexpr std::string_view kUser = "user", kUid = "uid", kHost = "host", kCommand = "command",
                           kPath = "path", kJob = "job";

template <std::size_t N>
void replace(char (&field)[N], const std::string& text) {
  std::memset(field, 0, N);
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
}

// The first line of a text, which loses it.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// Lines NAME=VALUE of the environment, which tell of a job and its ranks.
bool is_environment(std::string_view text) {
  const auto is_in_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const auto end = std::ranges::find_if_not(line, is_in_name);
    if (end == line.begin() || end == line.end() || *end != '=') return false;
    if (std::isupper(static_cast<unsigned char>(line.front())) == 0) return false;
  }
  return true;
}

// Numbers tell which rank of which job it is, and nobody's name; nor does "slurm.pmix.4711.0".
bool names_nobody(std::string_view value) {
  constexpr std::string_view kOfSlurm = "slurm.pmix.";
  if (value.starts_with(kOfSlurm)) value.remove_prefix(kOfSlurm.size());
  return value.find_first_not_of("0123456789.") == value.npos;
}

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".py");
}

}  // namespace

std::uint32_t Redaction::number(std::string_view kind, std::string_view text) {
  auto& of_kind = known_[std::string(kind)];
  const auto next = static_cast<std::uint32_t>(of_kind.size() + 1);
  return of_kind.try_emplace(std::string(text), next).first->second;
}

std::string Redaction::name(std::string_view kind, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("{} {}", kind, number(kind, text));
}

void Redaction::apply(recording::FileInfo& info) {
  replace(info.host, name(kHost, segment::text(info.host)));
  replace(info.boot_id, "");  // it tells which host, as its name does
  replace(info.directories, name(kPath, segment::text(info.directories)));
  info.flags |= recording::kRedacted;
}

// The name of the file stays: it tells one process from another, by number.
void Redaction::apply(recording::ProcessInfo& info) {
  const std::string path = segment::text(info.segment);
  const std::size_t slash = path.rfind('/');
  const std::string folder = path.substr(0, slash == std::string::npos ? 0 : slash);
  replace(info.segment, name(kPath, folder) + path.substr(folder.size()));
  replace(info.user, name(kUser, segment::text(info.user)));
  info.owner = number(kUid, std::to_string(info.owner));
}

void Redaction::apply(segment::Header& header) {
  for (segment::Identity* who : {&header.subject, &header.writer}) {
    replace(who->name, name(kCommand, segment::text(who->name)));
    replace(who->command, name(kCommand, segment::text(who->command)));
    who->uid = number(kUid, std::to_string(who->uid));
    std::ranges::fill(who->boot_id, std::uint8_t{0});
  }
  replace(header.runtime_library, name(kPath, segment::text(header.runtime_library)));
}

void Redaction::apply(segment::Failure& failure) {
  paths_in_text(failure.message, ::strnlen(failure.message, sizeof failure.message));
}

void Redaction::apply_to_blobs(std::span<std::byte> blobs) {
  while (blobs.size() >= sizeof(segment::Blob)) {
    segment::Blob head;
    std::memcpy(&head, blobs.data(), sizeof head);
    const std::size_t whole = sizeof head + ((head.bytes + 7ull) & ~7ull);
    if (whole > blobs.size()) return;
    auto* text = reinterpret_cast<char*>(blobs.data() + sizeof head);
    if (head.kind == static_cast<std::uint16_t>(segment::BlobKind::kString)) {
      if (is_environment({text, head.bytes})) {
        values_in_place({text, head.bytes});
      } else if (is_path({text, head.bytes})) {
        in_place(kPath, {text, head.bytes});
      }
    }
    blobs = blobs.subspan(whole);
  }
}

// "path-0000000012": as long as before, so that nothing else moves.
void Redaction::in_place(std::string_view kind, std::span<char> text) {
  const std::size_t bytes = text.size();
  const std::string digits = std::to_string(number(kind, {text.data(), bytes}));
  std::ranges::fill(text, '0');
  const std::size_t word = bytes > digits.size() ? std::min(bytes - digits.size(), kind.size()) : 0;
  std::copy_n(kind.begin(), word, text.begin());
  if (word < bytes && word == kind.size()) text[word] = '-';
  const std::size_t shown = std::min(bytes, digits.size());
  std::copy_n(digits.end() - static_cast<std::ptrdiff_t>(shown), shown, text.last(shown).begin());
}

void Redaction::values_in_place(std::span<char> text) {
  std::string_view rest(text.data(), text.size());
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::string_view value = line.substr(line.find('=') + 1);
    const auto begin = static_cast<std::size_t>(value.data() - text.data());
    if (!names_nobody(value)) in_place(kJob, text.subspan(begin, value.size()));
  }
}

// Words of a message that are paths.
void Redaction::paths_in_text(char* text, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes;) {
    const auto* space = static_cast<const char*>(std::memchr(text + begin, ' ', bytes - begin));
    const std::size_t end = space == nullptr ? bytes : static_cast<std::size_t>(space - text);
    if (std::string_view(text + begin, end - begin).find('/') != std::string_view::npos) {
      in_place(kPath, {text + begin, end - begin});
    }
    begin = end + 1;
  }
}

}  // namespace ttmem::record
