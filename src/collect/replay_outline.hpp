// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A recording at a glance: how much was held when, the peaks, the failures. One pass over all of
// its events, which needs no ledger; for long recordings it belongs on a thread of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collect/replay.hpp"
#include "ledger/enums.hpp"

namespace ttmem::collect {

// A moment that people want to go to. Whoever goes to its time sees just what happened then.
struct Mark {
  enum class Kind : std::uint8_t { kPeak, kFailure };
  Kind kind = Kind::kPeak;
  ledger::TimeNs time = 0;
  std::optional<ledger::Space> space;  // of a peak; empty: all of the devices together
  std::uint64_t bytes = 0;             // of a peak
  std::int32_t pid = 0;                // of a failure
  std::uint32_t number = 0;            // of a failure
};

struct Outline {
  using Bytes = std::array<std::uint64_t, ledger::kSpaces>;  // by space

  ledger::TimeNs first = 0, last = 0;
  // The recording in equal parts: the most that the living held in each, on all devices together.
  std::vector<Bytes> parts;
  std::vector<Mark> marks;  // by time
};

// Told now and then how much of a recording is read, from 0 to 1. False: the reader gives up, with
// an error that nobody is shown.
using GoOn = std::function<bool(double)>;
Result<Outline> outline_of(const std::string& path, std::size_t parts, const GoOn& go_on = {});
Result<Outline> outline_of(const Replay& replay, std::size_t parts, const GoOn& go_on = {});

// The first mark after a moment, or the last before it; null if there is none.
const Mark* mark_after(const Outline& outline, ledger::TimeNs time);
const Mark* mark_before(const Outline& outline, ledger::TimeNs time);

// From what people write to a moment of a recording: start, end, peak, failure (the last one),
// +SECONDS after the start, -SECONDS before the end, a time of day, nanoseconds since 1970. An
// error is in words for the user.
// Peaks and failures are taken from `known`, or found by a pass over all events.
Result<ledger::TimeNs> moment_named(const std::string& when, const Replay& replay,
                                    const Outline* known = nullptr, const GoOn& go_on = {});

}  // namespace ttmem::collect
