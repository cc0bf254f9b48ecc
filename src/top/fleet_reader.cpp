// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "top/source.hpp"

namespace ttmem::top {
namespace {

std::uint64_t now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class FleetReader {
 public:
  FleetReader(fleet::Engine engine, fleet::EngineQuestion question)
      : engine_(std::move(engine)), question_(std::move(question)) {}

  void read(const Request& request, Frame& frame) {
    question_.now_ns = now_ns();
    last_.problem.clear();
    keep(fleet::ask_fleet(engine_, question_), last_.fleet);
    if (request.host) take_host(*request.host);
    if (request.job) take_job(*request.job);
    frame.fleet = last_;
    frame.snapshot.host = engine_.name();
    frame.snapshot.time = question_.now_ns;
  }

 private:
  // What was told before stays when the engine does not answer.
  template <typename Value>
  void keep(Result<Value> answer, Value& value) {
    if (answer) {
      value = std::move(*answer);
    } else if (last_.problem.empty()) {
      last_.problem = answer.error().message;
    }
  }
  void take_host(const std::string& wanted) {
    const auto& hosts = last_.fleet.hosts;
    const std::string host = wanted.empty() && !hosts.empty() ? hosts.front().name : wanted;
    if (last_.host != host) last_.devices.clear();
    last_.host = host;
    if (!host.empty()) keep(fleet::ask_host(engine_, question_, host), last_.devices);
  }
  void take_job(const JobId& job) {
    if (last_.job != job) last_.parts.clear();
    last_.job = job;
    keep(fleet::ask_job(engine_, question_, job.key, job.user), last_.parts);
  }

  fleet::Engine engine_;
  fleet::EngineQuestion question_;
  FleetDetails last_;
};

}  // namespace

Read fleet_reader(const fleet::Engine& engine, const fleet::EngineQuestion& question) {
  auto reader = std::make_shared<FleetReader>(engine, question);
  return [reader](const Request& request, Frame& frame) { reader->read(request, frame); };
}

}  // namespace ttmem::top
