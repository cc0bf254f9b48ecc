// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "fleet/questions.hpp"

#include <atomic>
#include <thread>

namespace ttmem::fleet {
namespace {

// Enough to halve the time on two cores and more on larger engines; few enough that others who ask
// the same engine, which answers some at a time as well, do not have to wait for us.
constexpr std::size_t kAtOnce = 4;

struct Answered {
  std::optional<Result<Samples>> samples;  // empty: not asked, because another one failed
  std::vector<std::string> warnings;
};

}  // namespace

void Questions::answer() {
  const std::vector<Asked> asked = std::exchange(asked_, {});
  if (error_) return;
  std::vector<Answered> answered(asked.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    while (!failed) {
      const std::size_t mine = next++;
      if (mine >= asked.size()) return;
      Answered& answer = answered[mine];
      answer.samples = engine_.query(asked[mine].expression, answer.warnings);
      if (!*answer.samples) failed = true;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(kAtOnce, asked.size()); ++i) others.emplace_back(work);
    work();
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Answered& answer = answered[i];
    if (!answer.samples) return;
    if (!*answer.samples) {
      error_ = answer.samples->error();
      return;
    }
    for (const std::string& warning : answer.warnings) {
      if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(warning);
    }
    for (const Sample& sample : **answer.samples) asked[i].each(sample);
  }
}

}  // namespace ttmem::fleet
