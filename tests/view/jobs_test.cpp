// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/jobs.hpp"

#include <gtest/gtest.h>

#include "view/json_doc.hpp"
#include "view/seeds_snapshot.hpp"
#include "view/text.hpp"

namespace ttmem::view {
namespace {

using Json = nlohmann::ordered_json;
using test::JsonDoc;
using test::kNow;

ledger::Snapshot of_a_job() {
  ledger::Snapshot snapshot = test::seeds_snapshot();
  ledger::ProcessView& first = snapshot.processes[0];
  first.job = {"rack/31.0", "train", ledger::JobSource::kSlurm, 0, 3, 1, 0};
  first.pod = {"1b2c", "train-0", "ml", "trainer"};
  ledger::ProcessView second = first;
  second.pid = 4712;
  second.job.rank = 1;
  second.alive = false;
  second.ended = ledger::Ended::kDied;
  second.ended_at = kNow - 5'000'000'000;
  snapshot.processes.push_back(second);
  return snapshot;
}

TEST(Jobs, TheDocumentIsWhatItsTablesSay) {
  const ledger::Snapshot snapshot = of_a_job();
  const auto jobs = ledger::jobs_of(snapshot);
  const Json value = Json::parse(jobs_json(snapshot, jobs, JsonLayout::kPretty));
  EXPECT_EQ(JsonDoc().complaints(value, "jobs"), "");
  EXPECT_EQ(value["jobs"][0]["first_death"]["pid"], 4712);
  EXPECT_EQ(value["jobs"][0]["ranks_missing"], Json::parse("[1, 2]"));
  EXPECT_EQ(
      JsonDoc().complaints(Json::parse(snapshot_json(snapshot, JsonLayout::kCompact)), "snapshot"),
      "");
}

TEST(Jobs, ADocumentReadBackNamesTheSameJob) {
  const ledger::Snapshot snapshot = of_a_job();
  const auto read = read_snapshot(snapshot_json(snapshot, JsonLayout::kCompact));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->processes[0].job, snapshot.processes[0].job);
  EXPECT_EQ(read->processes[0].pod, snapshot.processes[0].pod);
}

TEST(Jobs, TheTextSaysWhoIsMissingAndWhoDied) {
  const ledger::Snapshot snapshot = of_a_job();
  const std::string text = jobs_text(ledger::jobs_of(snapshot), kNow, Style{});
  EXPECT_NE(text.find("Job rack/31.0 \"train\": 1 of 3 ranks"), std::string::npos) << text;
  EXPECT_NE(text.find("not here: rank 1, 2 (ended, or on another host)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("first to die: rank 1 "), std::string::npos) << text;
  EXPECT_NE(text.find("died 5"), std::string::npos) << text;
}

}  // namespace
}  // namespace ttmem::view
