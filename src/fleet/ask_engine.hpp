// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A fleet, a host or a device, from the series that an engine has of `ttmem serve`. Every question
// is an aggregation by host or job, so an answer is as long as there are hosts or jobs. A target
// that is scraped twice counts once.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "fleet/engine.hpp"
#include "fleet/fleet.hpp"

namespace ttmem::fleet {

struct EngineQuestion {
  std::string match;             // further matchers, as in 'cluster="a"'; "" = none
  unsigned stale_seconds = 120;  // older than this is stale
  std::uint64_t now_ns = 0;
};

Result<Fleet> ask_fleet(const Engine& engine, const EngineQuestion& question);

// What a job has on each of its hosts; nothing if the engine knows no such job.
Result<std::vector<JobPart>> ask_job(const Engine& engine, const EngineQuestion& question,
                                     const std::string& key, const std::string& user);

// The devices of a host; an error if the engine knows no such host.
Result<std::vector<DeviceRow>> ask_host(const Engine& engine, const EngineQuestion& question,
                                        const std::string& host);

// Every figure of one device of a host.
Result<std::vector<FigureRow>> ask_device(const Engine& engine, const EngineQuestion& question,
                                          const std::string& host, const std::string& device);

}  // namespace ttmem::fleet
