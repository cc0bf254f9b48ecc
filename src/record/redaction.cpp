// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "record/redaction.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "segment/reader_header.hpp"

namespace ttmem::record {

namespace {

constexpr std::string_view kUser = "user", kUid = "uid", kHost = "host", kCommand = "command",
                           kPath = "path";

template <std::size_t N>
void replace(char (&field)[N], const std::string& text) {
  std::memset(field, 0, N);
  std::memcpy(field, text.data(), std::min(text.size(), N - 1));
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
    if (head.kind == static_cast<std::uint16_t>(segment::BlobKind::kString) &&
        is_path({text, head.bytes})) {
      path_in_place(text, head.bytes);
    }
    blobs = blobs.subspan(whole);
  }
}

// "path-0000000012": as long as before, so that nothing else moves.
void Redaction::path_in_place(char* text, std::size_t bytes) {
  const std::string digits = std::to_string(number(kPath, {text, bytes}));
  std::memset(text, '0', bytes);
  const std::size_t word =
      bytes > digits.size() ? std::min(bytes - digits.size(), kPath.size()) : 0;
  std::copy_n(kPath.begin(), word, text);
  if (word < bytes && word == kPath.size()) text[word] = '-';
  const std::size_t shown = std::min(bytes, digits.size());
  std::copy_n(digits.end() - static_cast<std::ptrdiff_t>(shown), shown, text + bytes - shown);
}

// Words of a message that are paths.
void Redaction::paths_in_text(char* text, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes;) {
    const auto* space = static_cast<const char*>(std::memchr(text + begin, ' ', bytes - begin));
    const std::size_t end = space == nullptr ? bytes : static_cast<std::size_t>(space - text);
    if (std::string_view(text + begin, end - begin).find('/') != std::string_view::npos) {
      path_in_place(text + begin, end - begin);
    }
    begin = end + 1;
  }
}

}  // namespace ttmem::record
