// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The documents of docs/json.md. Every function writes one of them, with every field of the
// document's table in it: what is not known is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/event.hpp"
#include "ledger/jobs.hpp"
#include "ledger/origin_totals.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

class AnswerShares;

inline constexpr int kJsonSchema = 1;

// Pretty: for people, two spaces a level. Compact: one line, for streams.
enum class JsonLayout : std::uint8_t { kPretty, kCompact };

struct DeviceCores {
  std::uint32_t id = 0;
  std::uint64_t unique_id = 0;
  std::vector<ledger::CoreView> cores;
};

struct DeviceBanks {
  std::uint32_t id = 0;
  std::uint64_t unique_id = 0;
  std::vector<ledger::BankMap> spaces;
};

struct DeviceRings {
  std::uint32_t id = 0;
  std::uint64_t unique_id = 0;
  std::vector<ledger::RingView> rings;
};

// What was asked, and the rows that answer it.
struct Origins {
  ledger::OriginQuestion question;
  ledger::OriginTotals totals;
};

struct ProcessFailure {
  ledger::ProcessName process;
  ledger::FailureView failure;
  std::optional<std::vector<ledger::HoldingView>> picture;
};

std::string snapshot_json(const ledger::Snapshot& snapshot, JsonLayout layout);

// The others take host, boot and time from the snapshot they were read with. With `shares`, rows
// that do not fit are left out and counted (answer_shares.hpp).
std::string cores_json(const ledger::Snapshot& snapshot, const std::vector<DeviceCores>& devices,
                       bool with_map, JsonLayout layout);
std::string banks_json(const ledger::Snapshot& snapshot, const DeviceBanks& device,
                       JsonLayout layout);
std::string programs_json(const ledger::Snapshot& snapshot,
                          const std::vector<ledger::ProgramView>& programs, JsonLayout layout,
                          AnswerShares* shares = nullptr);
// Programs with their series.
std::string launches_json(const ledger::Snapshot& snapshot,
                          const std::vector<ledger::ProgramView>& programs, JsonLayout layout,
                          AnswerShares* shares = nullptr);
std::string rings_json(const ledger::Snapshot& snapshot, const DeviceRings& device,
                       JsonLayout layout);
// The jobs of a snapshot, each as one thing.
std::string jobs_json(const ledger::Snapshot& snapshot, const std::vector<ledger::JobView>& jobs,
                      JsonLayout layout);
std::string origins_json(const ledger::Snapshot& snapshot, const Origins& origins,
                         JsonLayout layout, AnswerShares* shares = nullptr);
std::string failures_json(const ledger::Snapshot& snapshot,
                          const std::vector<ProcessFailure>& failures, JsonLayout layout,
                          AnswerShares* shares = nullptr);

// Holdings may be millions: written piece by piece, one holding per line.
using Sink = std::function<void(std::string_view)>;
void holdings_json(const ledger::Snapshot& snapshot,
                   const std::vector<ledger::HoldingView>& holdings, const Sink& sink);

// One line, without the line break.
std::string event_json(const ledger::EventView& event);

// The document `snapshot` of docs/json.md read back, for one who was told it by a daemon. Whoever
// wrote it is not trusted: what is missing or of another type is "not known", what is too large or
// no such document at all is refused.
inline constexpr std::size_t kMostSnapshotBytes = 32u << 20;

// Written again, the result gives the same document. Process keys are new: the order in it.
std::optional<ledger::Snapshot> read_snapshot(std::string_view text);

}  // namespace ttmem::view
