// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held at one moment, in the formats of other tools. A format is one file here and one row
// of the table in formats.cpp; it is a function from plain data to bytes, and knows neither files
// nor options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/snapshot.hpp"

namespace ttmem::exports {

// The snapshot says whose holdings these are, and when.
struct Picture {
  const ledger::Snapshot* snapshot = nullptr;
  std::vector<ledger::HoldingView> holdings;
};

struct Format {
  std::string_view name;
  std::string (*write)(const Picture& picture);
  std::string_view limits;  // what it cannot say, for people
};

std::span<const Format> formats();

// A buffer's way from the outermost step of its origin to the operation, and what it takes.
struct Weighed {
  const ledger::HoldingView* holding = nullptr;
  std::vector<std::string> steps;  // at least one
  std::uint64_t taken = 0;         // on one device
};
// The buffers whose size is known, in the order of the picture.
std::vector<Weighed> weigh_buffers(const Picture& picture);

// "model.py:12 forward" in its parts; all of it is the function if it is no line.
struct Line {
  std::string file, function;
  std::uint32_t number = 0;
};
Line line_of(const std::string& step);

std::string folded(const Picture& picture);
std::string speedscope(const Picture& picture);
std::string pprof(const Picture& picture);
std::string csv(const Picture& picture);

}  // namespace ttmem::exports
