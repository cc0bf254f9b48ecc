// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Two moments side by side: what grew, shrank, came and went. Every byte of a total is in exactly
// one row of each list, so the rows of a list add up to the totals on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ledger/figures.hpp"
#include "ledger/snapshot.hpp"
#include "view/json.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// Bytes and how many things they are.
struct Weight {
  std::uint64_t bytes = 0, count = 0;
};
// Where bytes are: the spaces of buffers, L1 of programs, kernels.
using Place = std::string;
// By place and name. "" = not known.
using Weights = std::map<std::pair<Place, std::string>, Weight>;

// One side, over all devices together.
struct Side {
  std::string name;  // as the user named it
  ledger::TimeNs time = 0;
  std::map<std::string, std::uint64_t> figures;  // "dram.taken", "dram.peak"; what is not known is
                                                 // not there
  Weights lines, operations, programs;
  bool has_rows = true;  // false: made of a document that has totals alone
};

// Buffers by line and operation, programs by name; the dead are left out.
Side side_of(const std::vector<ledger::HoldingView>& holdings);
// The documents `holdings` and `snapshot` of docs/json.md, as `ttmem dump --json` and
// `ttmem status --json` print them; totals alone of the latter. Whoever wrote it is not trusted.
Result<Side> read_side(std::string_view document);

struct Difference {
  Place place;
  std::string name;
  Weight before, after;
  std::int64_t grown() const {
    return static_cast<std::int64_t>(after.bytes) - static_cast<std::int64_t>(before.bytes);
  }
  std::string_view change() const;  // "came", "went", "grew", "shrank", "same"
};

struct Comparison {
  Side before, after;
  // The largest change first.
  std::vector<Difference> lines, operations, programs;
  std::vector<std::string> broken_limits;  // in words; see Limit
  std::size_t rows_shown = 20;             // of each list, in texts
};

Comparison compare(Side before, Side after);

// "dram.peak>+2%": the figure may not grow by more than 2 %; "+64MiB" by more bytes; "12GiB" not be
// larger at all.
struct Limit {
  std::string text, figure;
  enum class Kind : std::uint8_t { kPercent, kGrowth, kValue } kind = Kind::kValue;
  double amount = 0;

  static constexpr std::string_view kForm =
      "FIGURE>+PERCENT%, FIGURE>+BYTES or FIGURE>BYTES, such as dram.peak>+2%; figures: "
      "dram, l1, l1_small or trace with .taken or .peak, program_l1.allocated, kernels.footprint";
  static Result<Limit> parse(const std::string& text);
  // How it is broken, in words; "" if it is kept. A figure that is not known keeps no limit.
  std::string broken_by(const Side& before, const Side& after) const;
};

std::string comparison_text(const Comparison& comparison, const Style& style);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison, JsonLayout layout);

}  // namespace ttmem::view
