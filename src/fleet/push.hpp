// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One document of metrics, from a daemon to a receiver: what a scrape would have fetched, sent from
// this side for hosts that nobody can scrape. There is no queue: a document that could not be sent
// is forgotten, and the next one says how things are then.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/http_client.hpp"
#include "fleet/otlp.hpp"

namespace ttmem::fleet {

enum class PushFormat : std::uint8_t { kOtlpProtobuf, kOtlpJson, kPrometheus };

struct PushTarget {
  PushFormat format = PushFormat::kOtlpProtobuf;
  Url to;  // with its path
  Headers headers;
  Url daemon;                        // whose metrics they are
  std::vector<std::string> collect;  // as collect[] of /metrics; empty: as the daemon is set
  Attributes resource;               // of OTLP
  std::string (*gzip)(std::string_view) = nullptr;  // what packs the document; null: nothing does
  std::chrono::milliseconds timeout{10000};
};

// How it went so far; both are in the documents, too.
struct PushState {
  std::uint64_t started_ns = 0, last_sent_ns = 0;  // 0 = never
  std::uint64_t sent = 0, failed = 0;
  std::uint64_t refused_points = 0;  // of what was sent
  unsigned in_a_row = 0;             // failures since the last success
  std::string problem;               // of the last attempt; "" = none
  std::string refused;  // of the last that was sent, by who took the rest of it; "" = nothing

  // How long to wait before the next attempt: twice as long after each failure, five minutes at
  // most.
  std::chrono::milliseconds pause(std::chrono::milliseconds every) const;
};

// Fetches a document and sends it; updates the state.
void push_once(const PushTarget& target, std::uint64_t now_ns, PushState& state);

// The path of VictoriaMetrics that takes what /metrics tells, for a host of this name. `path` is
// that of the address; where it names no host, the host is added.
std::string import_path(const std::string& path, const std::string& host);

// The state as JSON, for /healthz of the daemon.
std::string state_json(const PushTarget& target, const PushState& state);

}  // namespace ttmem::fleet
