// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/jobs.hpp"
#include "view/json.hpp"
#include "view/json_values.hpp"

namespace ttmem::view {
namespace json {
namespace {

Json rank(const ledger::RankView& view) {
  const ledger::ProcessView& process = *view.process;
  Json value = {{"rank", or_null(view.rank)},
                {"host", text_or_null(view.host)},
                {"mesh", or_null(process.job.mesh)},
                {"alive", process.alive},
                {"ended", process.alive ? Json(nullptr) : Json(name(process.ended))},
                {"ended_ns", time_or_null(process.ended_at)},
                {"dram", or_null(view.dram)},
                {"l1", or_null(view.l1)},
                {"dram_peak", or_null(view.dram_peak)},
                {"l1_peak", or_null(view.l1_peak)},
                {"headroom", or_null(view.headroom)},
                {"headroom_device", or_null(view.headroom_device)},
                {"failure_count", process.failure_count}};
  add_process(value, process);
  return value;
}

Json spread(const ledger::JobSpread& view) {
  return {{"least", or_null(view.least)},
          {"least_rank", or_null(view.least_rank)},
          {"most", or_null(view.most)},
          {"most_rank", or_null(view.most_rank)}};
}

Json chosen(const ledger::JobView& job, const std::optional<std::size_t>& index) {
  return index ? rank(job.ranks[*index]) : Json(nullptr);
}

}  // namespace

Json job(const ledger::JobView& view) {
  Json value = {{"key", view.job.key},
                {"name", text_or_null(view.job.name)},
                {"source", name(view.job.source)},
                {"user", text_or_null(view.user)},
                {"uid", view.uid},
                {"ranks_present", view.present},
                {"ranks_expected", or_null(view.expected)},
                {"ranks_missing", view.missing},
                {"ranks_died", view.died},
                {"dram", or_null(view.dram)},
                {"l1", or_null(view.l1)},
                {"dram_peak", or_null(view.dram_peak)},
                {"l1_peak", or_null(view.l1_peak)},
                {"dram_spread", spread(view.dram_spread)},
                {"l1_spread", spread(view.l1_spread)},
                {"least_headroom", chosen(view, view.tightest)},
                {"first_death", chosen(view, view.first_death)},
                {"ranks", Json::array()}};
  for (const ledger::RankView& each : view.ranks) value["ranks"].push_back(rank(each));
  return value;
}

}  // namespace json

std::string jobs_json(const ledger::Snapshot& snapshot, const std::vector<ledger::JobView>& jobs,
                      JsonLayout layout) {
  json::Json document = json::head("jobs", snapshot);
  std::vector<ledger::RankView> ranks;
  for (const ledger::JobView& each : jobs) {
    ranks.insert(ranks.end(), each.ranks.begin(), each.ranks.end());
  }
  document["dram_peak"] = json::or_null(ledger::most_at_once(ranks, &ledger::RankView::dram_peak));
  document["l1_peak"] = json::or_null(ledger::most_at_once(ranks, &ledger::RankView::l1_peak));
  document["jobs"] = json::Json::array();
  for (const ledger::JobView& each : jobs) document["jobs"].push_back(json::job(each));
  return json::text(document, layout);
}

}  // namespace ttmem::view
