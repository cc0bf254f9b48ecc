// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Questions to the history as they stand in a URL, and its answers as JSON documents
// (docs/history.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "serve/history/query.hpp"

namespace ttmem::serve::history {

// Decoded, in the order of the URL.
using Parameters = std::vector<std::pair<std::string, std::string>>;

// metric, device (id or 0x unique id), run, pid, from, to, step. A time is seconds since 1970, or
// relative to now as in "-15m"; a step is seconds or "10s", "5m", "1h", "1d". Left out: the last
// hour, in about 300 points. The error says which parameter is wrong, and what it may be.
Result<Query> parse_query(const Parameters& parameters, TimeNs now);
// device, pid, name, from, to, before, limit.
Result<RunQuery> parse_run_query(const Parameters& parameters, TimeNs now);

// {"schema":1,"document":"history", "metric":…, "from_s":…, "step_s":…, "series":[{…,"min":[…],
// "max":[…],"last":[…]}]}: columns, because a page draws them as they are. Unknown is null.
std::string answer_json(const Answer& answer);
std::string runs_json(const std::vector<Run>& runs);
std::string metrics_json();  // document "history_metrics"

}  // namespace ttmem::serve::history
