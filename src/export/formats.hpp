// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held at one moment, or what happened up to it, in the formats of other tools. A format is
// one file here and one row of the table in formats.cpp; it turns plain data into bytes, and knows
// neither files nor options.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/story.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::exports {

using Sink = std::function<void(std::string_view)>;

// The snapshot says whose holdings these are, and when.
struct Picture {
  const ledger::Snapshot* snapshot = nullptr;
  std::vector<ledger::HoldingView> holdings;
};

// Either a moment or a story.
struct Format {
  std::string_view name;
  std::string_view table;  // of csv and parquet: what a row is; "" = the format has no tables
  void (*moment)(const Picture& picture, const Sink& sink);
  std::unique_ptr<Scribe> (*story)(const Sink& sink);
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
std::vector<std::string> steps_of(const ledger::HoldingView& buffer);

// "model.py:12 forward" in its parts; all of it is the function if it is no line.
struct Line {
  std::string file, function;
  std::uint32_t number = 0;
};
Line line_of(const std::string& step);

void folded(const Picture& picture, const Sink& sink);
void speedscope(const Picture& picture, const Sink& sink);
void pprof(const Picture& picture, const Sink& sink);
std::unique_ptr<Scribe> perfetto(const Sink& sink);
std::unique_ptr<Scribe> chrome_json(const Sink& sink);
std::unique_ptr<Scribe> pytorch(const Sink& sink);
std::unique_ptr<Scribe> visualizer(const Sink& sink);

}  // namespace ttmem::exports
