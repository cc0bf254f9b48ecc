// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "serve/http/routes.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"
#include "view/selection.hpp"

namespace ttmem::serve::http {
namespace {

using ledger::HoldingView;
using view::json::Json;

constexpr std::uint64_t kUsualLimit = 1000, kMostLimit = 10'000;
constexpr std::size_t kMostBytes = 1u << 20;  // of a page, however large its holdings are

struct Page {
  view::Selection selection;
  std::uint64_t limit = kUsualLimit, first = 0;
  std::optional<std::uint64_t> generation;  // of the page before
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

// "" if the value is right, else what it must be.
std::string take(const std::string& name, const std::string& value, Page& page) {
  if (name == "limit") {
    const auto limit = number(value);
    if (!limit || *limit < 1 || *limit > kMostLimit) return "a number from 1 to 10000";
    page.limit = *limit;
  } else if (name == "cursor") {
    const std::size_t dash = std::min(value.find('-'), value.size());
    page.generation = number(std::string_view(value).substr(0, dash));
    const auto first = number(std::string_view(value).substr(std::min(dash + 1, value.size())));
    if (!page.generation || !first) return "the `next` of the page before";
    page.first = *first;
  } else {
    return page.selection.add(name, value);
  }
  return "";
}

}  // namespace

Response holdings_page(const Request& request, const collect::Collector& collector,
                       std::uint64_t generation) {
  Page page;
  for (const auto& [name, value] : request.query) {
    const std::string wanted = take(name, value, page);
    if (!wanted.empty()) return error(400, fmt::format("{} must be {}", name, wanted));
  }
  const auto device = page.selection.find(collector.snapshot());
  if (!device) return error(404, device.error().message);
  std::string list;
  std::uint64_t total = 0, shown = 0;
  collector.holdings([&](const HoldingView& holding) {
    if (!page.selection.has(holding)) return;
    const std::uint64_t index = total++;
    if (index < page.first || shown == page.limit || list.size() > kMostBytes) return;
    ++shown;
    list += list.empty() ? "\n" : ",\n";
    list += view::json::text(view::json::holding(holding), view::JsonLayout::kCompact);
  });
  const std::uint64_t after = page.first + shown;
  Json head = view::json::head("holdings", collector.snapshot());
  head["total"] = total;
  head["next"] = nullptr;
  if (after < total) head["next"] = fmt::format("{}-{}", generation, after);
  head["changed"] = page.generation.has_value() && *page.generation != generation;
  std::string document = view::json::text(head, view::JsonLayout::kCompact);
  document.pop_back();
  return json(document + ",\"holdings\":[" + list + "\n]}");
}

}  // namespace ttmem::serve::http
