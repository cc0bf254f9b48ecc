// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/state.hpp"

#include <algorithm>

namespace ttmem::top {

bool is_stale(const ScreenState& state) {
  return state.data_age_s > std::max(2.0, 3 * state.interval_s);
}

std::span<const View> views_of(const ScreenState& state) {
  static constexpr std::array kHere = {View::kOverview, View::kDevice, View::kPrograms,
                                       View::kProcess,  View::kEvents, View::kDead,
                                       View::kJobs,     View::kHelp};
  static constexpr std::array kFleet = {View::kHosts, View::kHost, View::kJobs, View::kHelp};
  if (state.fleet) return kFleet;
  return kHere;
}

Request request_for(const ScreenState& state, const ledger::Snapshot& snapshot) {
  Request request;
  switch (state.view) {
    case View::kDevice:
      request.device = state.device;
      if (!request.device && !snapshot.devices.empty()) {
        request.device = snapshot.devices.front().unique_id;
      }
      break;
    case View::kProcess:
      request.process = state.process;
      if (!request.process && !snapshot.processes.empty()) {
        request.process = process_id(snapshot.processes.front());
      }
      request.failure = state.open_failure;
      request.tree = state.tree;
      break;
    case View::kPrograms:
      request.programs = true;
      request.launches = state.timeline;
      break;
    case View::kEvents:
      request.events = true;
      break;
    case View::kHost:
      request.host = state.host.value_or("");
      break;
    case View::kJobs:
      request.job = state.job;
      break;
    default:
      break;
  }
  request.at = state.at;
  return request;
}

}  // namespace ttmem::top
