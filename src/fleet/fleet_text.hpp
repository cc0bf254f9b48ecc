// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What `ttmem fleet` prints: a fleet, its jobs, the devices of a host, the figures of a device;
// each for people and as the document of docs/json.md.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::fleet {

// `most`: so many hosts are shown; the sums are over all.
std::string fleet_text(const Fleet& fleet, std::size_t most, const view::Style& style);
std::string jobs_text(const Fleet& fleet, const view::Style& style);
// Who is in no sum, one line for each reason.
std::vector<std::string> gaps_of(const Fleet& fleet);
// The same as lines, with what is odd.
std::string notes_text(const Fleet& fleet, const view::Style& style);

// "first to die: rank 3 on node7, holding DRAM 1.0 GiB, L1 0 B"
std::string death_text(const FirstDeath& death);
std::string host_text(const std::string& host, const std::vector<DeviceRow>& devices,
                      const view::Style& style);
std::string device_text(const std::string& host, const std::string& device,
                        const std::vector<FigureRow>& figures, const view::Style& style);

std::string fleet_json(const Fleet& fleet);
std::string host_json(const std::string& host, const std::vector<DeviceRow>& devices,
                      std::uint64_t time_ns);
std::string device_json(const std::string& host, const std::string& device,
                        const std::vector<FigureRow>& figures, std::uint64_t time_ns);

}  // namespace ttmem::fleet
