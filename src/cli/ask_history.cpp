// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The last two minutes as a daemon remembers them, so that the curves of `ttmem top` do not begin
// with nothing.
#include <algorithm>
#include <map>
#include <utility>

#include "cli/ask_daemon.hpp"
#include "view/json_read_values.hpp"

namespace ttmem::cli {
namespace {

using view::json::Json;

constexpr std::size_t kMostPoints = 1000;  // a series; two minutes have 120
constexpr std::uint64_t kSecondNs = 1'000'000'000;

using Moments = std::map<std::pair<ledger::TimeNs, std::uint64_t>, top::PastMoment>;

// Adds one metric to the moments. False if nobody remembers it.
bool add_metric(const std::string& metric, std::uint64_t top::PastMoment::* figure,
                Moments& moments) {
  const auto text = ask_daemon("/api/v1/history?from=-2m&step=1s&metric=" + metric);
  if (!text) return false;
  const Json document = Json::parse(*text, nullptr, false);
  const auto from = view::json::number<std::uint32_t>(document, "from_s");
  const auto step = view::json::number<std::uint32_t>(document, "step_s");
  if (!from || !step) return false;
  for (const Json& series : view::json::field(document, "series")) {
    const auto device = view::json::id(view::json::field(series, "unique_id"));
    const Json& values = view::json::field(series, "max");
    if (!device || !values.is_array()) continue;
    for (std::size_t i = 0; i < std::min(values.size(), kMostPoints); ++i) {
      if (!values[i].is_number_unsigned()) continue;
      const ledger::TimeNs time = (std::uint64_t{*from} + i * *step) * kSecondNs;
      top::PastMoment& moment = moments[{time, *device}];
      moment.unique_id = *device;
      moment.time = time;
      moment.*figure += values[i].get<std::uint64_t>();
    }
  }
  return true;
}

}  // namespace

std::vector<top::PastMoment> last_minutes() {
  Moments moments;
  if (!add_metric("dram.taken", &top::PastMoment::dram, moments)) return {};
  // Together they are what is used of the L1.
  for (const char* metric : {"l1.taken", "l1_small.taken", "program_l1.resident"}) {
    add_metric(metric, &top::PastMoment::l1, moments);
  }
  std::vector<top::PastMoment> past;
  for (const auto& [when, moment] : moments) past.push_back(moment);
  return past;
}

}  // namespace ttmem::cli
