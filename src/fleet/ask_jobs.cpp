// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "fleet/questions.hpp"

namespace ttmem::fleet {
namespace {

// By key and user; of a job that is asked for by host, by host as well.
struct JobPlace {
  std::string key, user, host;
  auto operator<=>(const JobPlace&) const = default;
};
using Jobs = std::map<JobPlace, JobRow>;

// Questions about jobs: over all hosts, or on each host where `per_host`; where `only` names hosts,
// of these alone.
class JobQuestions {
 public:
  JobQuestions(Questions& questions, std::string matchers, std::string only, bool per_host,
               Jobs& jobs)
      : questions_(questions),
        matchers_(std::move(matchers)),
        only_(std::move(only)),
        per_host_(per_host),
        jobs_(jobs) {}

  void each(const std::string& expression, const std::function<void(JobRow&, const Sample&)>& set) {
    questions_.ask(expression, [per_host = per_host_, &jobs = jobs_, set](const Sample& sample) {
      const std::string host = per_host ? sample.label("instance") : "";
      JobRow& row = jobs[{sample.label("workload"), sample.label("user"), host}];
      row.key = sample.label("workload");
      row.user = sample.label("user");
      set(row, sample);
    });
  }
  // Of each host once, put together by `function`.
  void bytes(const char* function, const std::string& series, ledger::Figure JobRow::* member) {
    each(over(function, series),
         [member](JobRow& row, const Sample& sample) { row.*member = whole(sample.value); });
  }
  // The smallest of a series, with the labels of whose it is.
  void least(const std::string& name, const std::function<void(JobRow&, const Sample&)>& set) {
    each(fmt::format("bottomk by ({}) (1, {})", labels(), select(name)), set);
  }
  std::string select(const std::string& name, const std::string& matchers = "") const {
    const bool both = !matchers.empty() && !matchers_.empty();
    const std::string series = questions_.select(name, matchers + (both ? "," : "") + matchers_);
    return only_.empty() ? series : fmt::format("({} and on (instance) ({}))", series, only_);
  }
  std::string once(const std::string& name, const std::string& matchers = "") const {
    return fmt::format("max by (instance, workload, user) ({})", select(name, matchers));
  }
  std::string labels() const { return per_host_ ? "instance, workload, user" : "workload, user"; }

 private:
  std::string over(const char* function, const std::string& series) const {
    return fmt::format("{} by ({}) ({})", function, labels(), series);
  }

  Questions& questions_;
  std::string matchers_, only_;
  bool per_host_;
  Jobs& jobs_;
};

void add_first_death(JobQuestions& ask) {
  constexpr double kSecond = 1e9;
  ask.least("ttmem_job_first_death_seconds", [](JobRow& row, const Sample& sample) {
    row.first_death = FirstDeath{
        whole(sample.value * kSecond), sample.label("rank"), sample.label("instance"), {}, {}};
  });
  const auto held = [&](const char* space, ledger::Figure FirstDeath::* member) {
    const std::string series =
        ask.select("ttmem_job_first_death_bytes", fmt::format(R"(space="{}")", space));
    ask.each(series, [member](JobRow& row, const Sample& sample) {
      if (!row.first_death || row.first_death->host != sample.label("instance")) return;
      if (row.first_death->rank == sample.label("rank")) {
        (*row.first_death).*member = whole(sample.value);
      }
    });
  };
  held("dram", &FirstDeath::dram);
  held("l1", &FirstDeath::l1);
}

void add_jobs(JobQuestions ask) {
  const auto memory = [&](const char* space, const char* figure) {
    return ask.once("ttmem_job_memory_bytes",
                    fmt::format(R"(space="{}",figure="{}")", space, figure));
  };
  ask.bytes("sum", ask.once("ttmem_job_ranks"), &JobRow::present);
  ask.bytes("count", ask.once("ttmem_job_ranks") + " > 0", &JobRow::hosts);
  ask.bytes("max", ask.once("ttmem_job_expected_ranks"), &JobRow::expected);
  ask.bytes("sum", ask.once("ttmem_job_died_ranks"), &JobRow::died);
  ask.bytes("sum", memory("dram", "taken"), &JobRow::dram);
  ask.bytes("sum", memory("l1", "taken"), &JobRow::l1);
  ask.bytes("min", memory("dram", "least_rank"), &JobRow::dram_least);
  ask.bytes("max", memory("dram", "most_rank"), &JobRow::dram_most);
  ask.least("ttmem_job_headroom_bytes", [](JobRow& row, const Sample& sample) {
    row.headroom = whole_signed(sample.value);
    row.headroom_rank = sample.label("rank");
    row.headroom_host = sample.label("instance");
  });
  ask.each(fmt::format("group by ({}, name) ({})", ask.labels(), ask.select("ttmem_job_info")),
           [](JobRow& row, const Sample& sample) { row.name = sample.label("name"); });
  add_first_death(ask);
}

}  // namespace

std::vector<JobRow> jobs_over_hosts(Questions& questions, bool fresh_only) {
  Jobs jobs;
  add_jobs({questions, "", fresh_only ? questions.fresh() : "", false, jobs});
  questions.answer();
  std::vector<JobRow> rows;
  for (auto& [place, row] : jobs) rows.push_back(std::move(row));
  return rows;
}

Result<std::vector<JobPart>> ask_job(const Engine& engine, const EngineQuestion& question,
                                     const std::string& key, const std::string& user) {
  Questions questions(engine, question);
  Jobs jobs;
  add_jobs({questions, fmt::format("workload={},user={}", quoted(key), quoted(user)),
            questions.fresh(), true, jobs});
  questions.answer();
  if (questions.error()) return *questions.error();
  std::vector<JobPart> parts;
  for (auto& [place, row] : jobs) parts.push_back({place.host, std::move(row)});
  return parts;
}

}  // namespace ttmem::fleet
