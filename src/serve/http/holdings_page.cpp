// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "ledger/holding_page.hpp"
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
  std::uint64_t limit = kUsualLimit;
  ledger::HoldingPlace place;
  std::optional<std::uint64_t> generation;  // of the page before
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::string cursor(std::uint64_t generation, const ledger::HoldingPlace& place) {
  return fmt::format("{}-{}-{}-{}-{}", generation, place.process, place.key, place.slot,
                     place.part);
}

bool read_cursor(std::string_view text, Page& page) {
  std::array<std::uint64_t, 5> values{};
  for (std::uint64_t& value : values) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    const auto found = number(text.substr(0, dash));
    if (!found) return false;
    value = *found;
    text.remove_prefix(std::min(dash + 1, text.size()));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!text.empty() || values[3] > kMost || values[4] > kMost) return false;
  page.generation = values[0];
  page.place = {values[1], values[2], static_cast<ledger::SlotIndex>(values[3]),
                static_cast<std::uint32_t>(values[4])};
  return true;
}

// "" if the value is right, else what it must be.
std::string take(const std::string& name, const std::string& value, Page& page) {
  if (name == "limit") {
    const auto limit = number(value);
    if (!limit || *limit < 1 || *limit > kMostLimit) return "a number from 1 to 10000";
    page.limit = *limit;
  } else if (name == "cursor") {
    if (!read_cursor(value, page)) return "the `next` of the page before";
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
  const ledger::HoldingQuestion question = page.selection.holdings();
  std::string list;
  std::uint64_t shown = 0;
  const bool full = collector.holdings(question, page.place, [&](const HoldingView& holding) {
    list += list.empty() ? "\n" : ",\n";
    list += view::json::text(view::json::holding(holding), view::JsonLayout::kCompact);
    return ++shown < page.limit && list.size() <= kMostBytes;
  });
  ledger::HoldingPlace behind = page.place;
  const bool more = full && collector.holdings(question, behind, [](const auto&) { return false; });
  Json head = view::json::head("holdings", collector.snapshot());
  head["total"] = collector.count_holdings(question);
  head["next"] = nullptr;
  if (more) head["next"] = cursor(generation, page.place);
  head["changed"] = page.generation.has_value() && *page.generation != generation;
  std::string document = view::json::text(head, view::JsonLayout::kCompact);
  document.pop_back();
  return json(document + ",\"holdings\":[" + list + "\n]}");
}

}  // namespace ttmem::serve::http
