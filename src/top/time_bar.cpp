// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/time_bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "top/controls.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::TimeNs;
using view::Ink;

constexpr std::array<double, 12> kSpeeds = {0.001, 0.01, 0.1, 0.25, 0.5, 1,
                                            2,     5,    10,  60,   600, 3600};
constexpr int kLeastBarColumns = 10;
constexpr std::int64_t kSteps = 100, kFineSteps = 10'000;  // of the whole recording

TimeNs wanted(const ScreenState& state, const RecordingView& recording) {
  return state.at.value_or(recording.at);
}

void go(ScreenState& state, const RecordingView& recording, std::int64_t by_ns) {
  const auto first = static_cast<std::int64_t>(recording.first);
  const auto last = static_cast<std::int64_t>(recording.last);
  const auto now = static_cast<std::int64_t>(wanted(state, recording));
  state.at = static_cast<TimeNs>(std::clamp(now + by_ns, first, last));
}

void step(ScreenState& state, const RecordingView& recording, int direction, std::int64_t steps) {
  const auto length = static_cast<std::int64_t>(recording.last - recording.first);
  go(state, recording, direction * std::max<std::int64_t>(1, length / steps));
}

void go_to_mark(ScreenState& state, const RecordingView& recording, bool next) {
  if (!recording.outline) return;
  const TimeNs now = wanted(state, recording);
  const collect::Mark* mark = next ? collect::mark_after(*recording.outline, now)
                                   : collect::mark_before(*recording.outline, now);
  if (mark == nullptr) return;
  state.at = mark->time;
  state.playing = false;
}

void change_speed(ScreenState& state, int by) {
  const auto now = std::ranges::find(kSpeeds, state.speed);
  const auto place = std::clamp<std::ptrdiff_t>(now - kSpeeds.begin() + by, 0, kSpeeds.size() - 1);
  state.speed = kSpeeds[static_cast<std::size_t>(place)];
}

bool press_time(ScreenState& state, char32_t character, const RecordingView& recording) {
  switch (character) {
    case U' ':
      state.playing = !state.playing;
      if (state.playing && wanted(state, recording) >= recording.last) state.at = recording.first;
      return true;
    case U'+':
    case U'=':
      change_speed(state, 1);
      return true;
    case U'-':
      change_speed(state, -1);
      return true;
    case U',':
      step(state, recording, -1, kSteps);
      return true;
    case U'.':
      step(state, recording, 1, kSteps);
      return true;
    case U'<':
      step(state, recording, -1, kFineSteps);
      return true;
    case U'>':
      step(state, recording, 1, kFineSteps);
      return true;
    case U'[':
      go_to_mark(state, recording, false);
      return true;
    case U']':
      go_to_mark(state, recording, true);
      return true;
    case U'g':
      state.at = recording.first;
      return true;
    case U'G':
      state.at = recording.last;
      return true;
    default:
      return false;
  }
}

// ---- drawing -----------------------------------------------------------------------------------

int column_of(const RecordingView& recording, TimeNs time, int columns) {
  const double length = std::max(1.0, static_cast<double>(recording.last - recording.first));
  const double part = static_cast<double>(time - recording.first) / length;
  return std::clamp(static_cast<int>(part * columns), 0, columns - 1);
}

std::uint64_t held_in(const collect::Outline& outline, std::size_t begin, std::size_t end) {
  std::uint64_t most = 0;
  for (std::size_t i = begin; i < std::max(end, begin + 1) && i < outline.parts.size(); ++i) {
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes : outline.parts[i]) sum += bytes;
    most = std::max(most, sum);
  }
  return most;
}

void draw_curve(Canvas& canvas, const view::Rect& bar, const collect::Outline& outline) {
  constexpr std::array<char32_t, 9> kLevels = {U'·', U'▁', U'▂', U'▃', U'▄',
                                               U'▅', U'▆', U'▇', U'█'};
  const std::size_t parts = outline.parts.size();
  const auto columns = static_cast<std::size_t>(bar.columns);
  const std::uint64_t top = std::max<std::uint64_t>(1, held_in(outline, 0, parts));
  for (std::size_t i = 0; i < columns; ++i) {
    const std::uint64_t held = held_in(outline, i * parts / columns, (i + 1) * parts / columns);
    const auto level = static_cast<std::size_t>(
        std::ceil(static_cast<double>(held) / static_cast<double>(top) * 8));
    canvas.grid.put(bar.x + static_cast<int>(i), bar.y, kLevels[std::min<std::size_t>(level, 8)],
                    looks::kSoft);
  }
}

// A failure is drawn over a peak at the same place.
void draw_marks(Canvas& canvas, const view::Rect& bar, const RecordingView& recording) {
  using Kind = collect::Mark::Kind;
  for (const Kind kind : {Kind::kPeak, Kind::kFailure}) {
    for (const collect::Mark& mark : recording.outline->marks) {
      // The peak of one space is there to jump to, not to see.
      if (mark.kind != kind || mark.space) continue;
      canvas.grid.put(bar.x + column_of(recording, mark.time, bar.columns), bar.y,
                      kind == Kind::kFailure ? U'!' : U'▲',
                      kind == Kind::kFailure ? looks::kBad : looks::kWarn);
    }
  }
}

std::string text_of(const ScreenState& state, const RecordingView& recording) {
  const TimeNs now = wanted(state, recording);
  const auto seconds = [&](TimeNs time) {
    return static_cast<double>(time - recording.first) / 1e9;
  };
  return fmt::format("{} {}  {:.3f} of {:.3f} s  x{:g}", state.playing ? "playing" : "at",
                     view::clock_text(now).substr(0, 12), seconds(now), seconds(recording.last),
                     state.speed);
}

}  // namespace

bool apply_to_time(ScreenState& state, const Input& input, const Frame& frame) {
  if (!frame.recording) return false;
  if (input.key == Key::kCharacter) return press_time(state, input.character, *frame.recording);
  if (on_cores(state) || (input.key != Key::kLeft && input.key != Key::kRight)) return false;
  step(state, *frame.recording, input.key == Key::kLeft ? -1 : 1, kSteps);
  return true;
}

void go_to_part(ScreenState& state, const Frame& frame, int part) {
  if (!frame.recording) return;
  const auto length = static_cast<double>(frame.recording->last - frame.recording->first);
  state.at = frame.recording->first + static_cast<TimeNs>(length * part / kTimeParts);
}

void play_on(ScreenState& state, const Frame& frame, double seconds) {
  if (!frame.recording || !state.playing) return;
  go(state, *frame.recording, std::llround(std::min(seconds, 1.0) * state.speed * 1e9));
  if (state.at == frame.recording->last) state.playing = false;
}

void draw_time_bar(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const RecordingView& recording = *scene.frame.recording;
  const std::string text = text_of(scene.state, recording);
  const int used = canvas.grid.text(place.x + 1, place.y, text, looks::kTitle, place.columns - 2);
  const view::Rect bar{place.x + used + 3, place.y, place.columns - used - 4, 1};
  if (bar.columns < kLeastBarColumns) return;
  canvas.grid.fill(bar, U'·', looks::kFaint);
  if (recording.outline) {
    draw_curve(canvas, bar, *recording.outline);
    draw_marks(canvas, bar, recording);
  }
  const int cursor = bar.x + column_of(recording, wanted(scene.state, recording), bar.columns);
  canvas.grid.put_behind({cursor, bar.y, 1, 1}, Ink::kTitle);
  if (!scene.state.colours) canvas.grid.put(cursor, bar.y, U'|', looks::kText);
  for (int i = 0; i < bar.columns; ++i) {
    const int part = static_cast<int>((i + 0.5) / bar.columns * kTimeParts);
    canvas.zones.push_back({{bar.x + i, bar.y, 1, 1}, ZoneKind::kTime, part});
  }
}

}  // namespace ttmem::top
