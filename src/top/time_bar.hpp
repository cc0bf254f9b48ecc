// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The one line of the screen that knows that it shows a recording: where it stands, what was held
// when, where something failed; and the keys that go from moment to moment.
#pragma once

#include "top/canvas.hpp"
#include "top/input.hpp"

namespace ttmem::top {

void draw_time_bar(Canvas& canvas, const view::Rect& place, const Scene& scene);

// What a key does to the moment that is wanted. False: it is no key of the bar, in this view.
bool apply_to_time(ScreenState& state, const Input& input, const Frame& frame);
// A click on the bar: `part` of kTimeParts of the recording.
inline constexpr int kTimeParts = 100'000;
void go_to_part(ScreenState& state, const Frame& frame, int part);
// Plays on for so long; stops at the end.
void play_on(ScreenState& state, const Frame& frame, double seconds);

}  // namespace ttmem::top
