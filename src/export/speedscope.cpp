// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The JSON of speedscope: one profile for each device and space, each buffer a sample.
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export/formats.hpp"

namespace ttmem::exports {

namespace {

using Json = nlohmann::ordered_json;

// Frames, each once.
class Frames {
 public:
  std::size_t number(const std::string& step) {
    const auto [known, added] = numbers_.try_emplace(step, numbers_.size());
    if (added) {
      const Line line = line_of(step);
      Json frame = {{"name", step}};
      if (!line.file.empty()) frame.update(Json{{"file", line.file}, {"line", line.number}});
      all_.push_back(std::move(frame));
    }
    return known->second;
  }
  Json take() { return std::move(all_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json all_ = Json::array();
};

struct Profile {
  Json samples = Json::array(), weights = Json::array();
  std::uint64_t sum = 0;
};

}  // namespace

void speedscope(const Picture& picture, const Sink& sink) {
  Frames frames;
  std::map<std::pair<std::uint32_t, ledger::Space>, Profile> profiles;
  for (const Weighed& buffer : weigh_buffers(picture)) {
    Json way = Json::array();
    for (const std::string& step : buffer.steps) way.push_back(frames.number(step));
    for (const std::uint32_t device : buffer.holding->devices) {
      Profile& profile = profiles[{device, buffer.holding->space}];
      profile.samples.push_back(way);
      profile.weights.push_back(buffer.taken);
      profile.sum += buffer.taken;
    }
  }
  Json all = Json::array();
  for (auto& [of, profile] : profiles) {
    all.push_back({{"type", "sampled"},
                   {"name", fmt::format("device {} {}", of.first, ledger::name(of.second))},
                   {"unit", "bytes"},
                   {"startValue", 0},
                   {"endValue", profile.sum},
                   {"samples", std::move(profile.samples)},
                   {"weights", std::move(profile.weights)}});
  }
  const Json document = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                         {"name", "ttmem: what is held"},
                         {"exporter", "ttmem"},
                         {"activeProfileIndex", 0},
                         {"shared", {{"frames", frames.take()}}},
                         {"profiles", std::move(all)}};
  sink(document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace ttmem::exports
