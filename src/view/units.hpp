// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Numbers as people read them: bytes in KiB, MiB and GiB with one decimal, counts with their noun,
// ages and clock times. What is not known is "?", never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/duration_text.hpp"
#include "ledger/figures.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

std::string bytes_text(std::uint64_t bytes);          // "0 B", "988.0 KiB", "1.2 GiB"
std::string bytes_text(const ledger::Figure& bytes);  // "?" if empty
std::string signed_bytes_text(std::int64_t bytes);    // "-3.4 KiB"
std::string exact_text(std::uint64_t bytes);          // "1,499,136"
std::string exact_text(const ledger::Figure& bytes);
std::string signed_exact_text(std::int64_t bytes);

// What a user wrote: "4096", "500M", "1.5 GiB". KB, MB and GB are powers of 1024 as well, as they
// are to the Python package. Empty if it is no size.
std::optional<std::uint64_t> bytes_in(std::string_view text);

// "1 buffer", "120 buffers", "2 processes".
std::string count_text(std::uint64_t count, std::string_view noun);
// "41 %"; "?" without a whole.
std::string percent_text(std::uint64_t part, std::uint64_t whole);

std::string hex_text(std::uint64_t value);  // "0x1a"
std::string hex_text(const ledger::Figure& value);
// The id of a program, workload or trace; "-" if ttmem made it up because nobody gave one.
inline constexpr std::uint64_t kFirstOwnId = std::uint64_t{1} << 61;  // as in ttmem.hpp
std::string told_id_text(std::uint64_t id);
std::string unique_id_text(std::uint64_t value);  // "0x" and 16 digits

// How long before `now`; "-" for 0, which is never a time.
std::string age_text(ledger::TimeNs then, ledger::TimeNs now);
// The same of a launch; "?" if nobody tells launches.
std::string launch_age_text(const ledger::Figure& dispatches, ledger::TimeNs then,
                            ledger::TimeNs now);
// Local time of day, "20:31:05.123456".
std::string clock_text(ledger::TimeNs time);

}  // namespace ttmem::view
