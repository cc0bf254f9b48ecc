// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a view draws on: cells, and beside them which places answer to a click.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "top/frame.hpp"
#include "top/history.hpp"
#include "top/state.hpp"
#include "view/cells.hpp"

namespace ttmem::top {

enum class ZoneKind : std::uint8_t { kView, kRow, kCore, kKey, kSort, kTime };

// A click here means: go to a view, select a row of the list, put the cursor on a core (number =
// row x 256 + column), press a key, sort by an order, or go to a part of the recording.
struct Zone {
  view::Rect place;
  ZoneKind kind = ZoneKind::kRow;
  int number = 0;
};

struct Canvas {
  view::Grid grid;
  std::vector<Zone> zones;
};

// Everything a picture is a function of, but the size.
struct Scene {
  const Frame& frame;
  const History& history;
  const ScreenState& state;

  // The device and the process that the state names, or the first where it names none; null if
  // there is no such one (any more).
  const ledger::DeviceView* device() const;
  const ledger::ProcessView* process() const;

  // Bytes as the state wants them; "?" if not known.
  std::string bytes(const ledger::Figure& figure) const;
  // The same where they may be below zero.
  std::string signed_bytes(const std::optional<std::int64_t>& bytes) const;
};

// ---- looks that every view shares --------------------------------------------------------------

namespace looks {
inline constexpr view::Look kText{view::Ink::kText};
inline constexpr view::Look kSoft{view::Ink::kSoft};
inline constexpr view::Look kFaint{view::Ink::kFaint};
inline constexpr view::Look kFrame{view::Ink::kFrame};
inline constexpr view::Look kTitle{view::Ink::kTitle, view::Ink::kDefault, true};
inline constexpr view::Look kKey{view::Ink::kKey};
inline constexpr view::Look kGood{view::Ink::kGood};
inline constexpr view::Look kWarn{view::Ink::kWarn};
inline constexpr view::Look kBad{view::Ink::kBad, view::Ink::kDefault, true};
}  // namespace looks

// Each type of kernel has a colour.
view::Look type_look(ledger::KernelType type);

// A frame with a title, a note at its right end, and returns the place inside. Parts of the note
// that are three spaces apart are left out where there is no room for them.
view::Rect draw_panel(Canvas& canvas, const view::Rect& place, const std::string& title,
                      const std::string& note = {});

// Lines of text, each centred in the place.
void draw_centred(Canvas& canvas, const view::Rect& place, const std::vector<std::string>& lines);

}  // namespace ttmem::top
