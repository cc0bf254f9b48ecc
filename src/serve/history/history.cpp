// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/history/history.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "serve/history/book.hpp"

namespace ttmem::serve::history {
namespace {

constexpr TimeNs kSecondNs = 1'000'000'000;
constexpr std::uint64_t kMemoryBytes = 32ull << 20;

using OpenedBook = std::variant<std::unique_ptr<Book>, Store::Refusal>;

OpenedBook open_book(const std::string& path, const Limits& limits) {
  auto opened = Store::open(path, limits);
  if (auto* refused = std::get_if<Store::Refusal>(&opened)) return std::move(*refused);
  auto book =
      std::make_unique<Book>(path, limits, std::move(std::get<std::unique_ptr<Store>>(opened)));
  if (book->load()) return book;
  const Database& database = book->store().database();
  return Store::Refusal{
      {ErrorCode::kCorrupt, fmt::format("history: cannot read {}: {}", path, database.message())},
      database.is_broken()};
}

}  // namespace

Result<std::unique_ptr<History>> History::open(const std::string& path, const Limits& limits,
                                               TimeNs now) {
  OpenedBook opened = open_book(path, limits);
  std::string said;
  if (const auto* refused = std::get_if<Store::Refusal>(&opened)) {
    if (!refused->broken) return refused->error;
    const std::string aside = move_aside(path, static_cast<std::int64_t>(now / kSecondNs));
    if (aside.empty()) return Error(refused->error);
    opened = open_book(path, limits);
    if (const auto* again = std::get_if<Store::Refusal>(&opened)) return again->error;
    said = fmt::format("history: {} was broken and is kept as {}; a new one is begun", path, aside);
  }
  std::unique_ptr<Book> book = std::move(std::get<std::unique_ptr<Book>>(opened));
  book->say(std::move(said));
  return std::unique_ptr<History>(std::move(book));
}

History::Opened History::open_or_memory(const std::string& path, const Limits& limits, TimeNs now) {
  auto opened = open(path, limits, now);
  if (opened) {
    std::string said = (*opened)->status().problem;
    return {std::move(*opened), std::move(said)};
  }
  const std::string notice =
      fmt::format("{}. Until then the history is kept in memory", opened.error().message);
  Limits small = limits;
  small.file_bytes = std::min(small.file_bytes, kMemoryBytes);
  OpenedBook memory = open_book("", small);
  std::unique_ptr<Book> book = std::move(std::get<std::unique_ptr<Book>>(memory));
  book->say(notice);
  return {std::move(book), notice};
}

std::string History::default_path(bool host_wide) {
  if (host_wide) return "/var/lib/ttmem/history.db";
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/ttmem/history.db";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return std::string(home) + "/.local/state/ttmem/history.db";
}

}  // namespace ttmem::serve::history
