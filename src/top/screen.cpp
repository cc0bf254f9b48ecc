// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/sort_orders.hpp"
#include "top/time_bar.hpp"
#include "top/views.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using view::Ink;

struct Tab {
  std::string_view name, short_name;
};
Tab tab_of(View view) {
  static constexpr std::array<Tab, kViews> kTabs = {{{"Overview", "All"},
                                                     {"Device", "Dev"},
                                                     {"Programs", "Prog"},
                                                     {"Process", "Proc"},
                                                     {"Events", "Ev"},
                                                     {"Dead", "Dead"},
                                                     {"Jobs", "Jobs"},
                                                     {"Hosts", "Hosts"},
                                                     {"Host", "Host"},
                                                     {"Help", ""}}};
  return kTabs[static_cast<std::size_t>(view)];
}

struct Hint {
  char key;
  std::string_view shown, meaning;
};

bool enter_opens(const ScreenState& state) {
  if (state.view == View::kProcess) return state.failures && state.open_failure == 0;
  if (state.view == View::kDevice) return state.kernels;
  return state.view != View::kEvents && state.view != View::kHost;
}

std::vector<Hint> hints(const Scene& scene) {
  const ScreenState& state = scene.state;
  if (state.view == View::kHelp) return {{'\x1b', "Esc", "back"}, {'q', "q", "quit"}};
  std::vector<Hint> result;
  const auto add = [&result](char key, std::string_view shown, std::string_view meaning) {
    result.push_back({key, shown, meaning});
  };
  const bool cores = state.view == View::kDevice && !state.kernels;
  if (cores) add('c', "c", "colour by");
  if (enter_opens(state)) add('\r', "Enter", "open");
  if (state.view == View::kDevice) {
    add('f', "f", state.kernels ? "cores" : "kernels");
    add('n', "n", "next device");
  }
  if (state.view == View::kPrograms) add('f', "f", state.timeline ? "figures" : "timeline");
  if (state.view == View::kProcess) {
    add('f', "f", state.failures ? "holdings" : "failures");
    if (!state.failures) add('t', "t", state.tree ? "list" : "tree");
    if (!state.failures && state.tree) add('\r', "Enter", "fold");
    add('n', "n", "next");
  }
  if (state.view == View::kHost) add('n', "n", "next host");
  if (state.view == View::kJobs && state.job) add('\x1b', "Esc", "all jobs");
  if (!cores && !(state.view == View::kProcess && state.failures)) add('/', "/", "filter");
  if (!cores && !order_titles(state).empty()) add('s', "s", "sort");
  if (state.view != View::kEvents) add('b', "b", "bytes");
  if (scene.frame.recording) {
    add(' ', "Space", state.playing ? "stop" : "play");
    add(']', "]", "next failure or peak");
  } else {
    add(' ', "Space", state.paused ? "go on" : "pause");
  }
  add('?', "?", "help");
  add('q', "q", "quit");
  return result;
}

std::string status_text(const Scene& scene) {
  const std::string time = view::clock_text(scene.frame.snapshot.time).substr(0, 8);
  if (scene.frame.recording) return fmt::format("{}  {}", scene.frame.snapshot.host, time);
  return fmt::format("{}  {}  every {:.1f} s", scene.frame.snapshot.host, time,
                     scene.state.interval_s);
}

// What needs attention, at the right end of the first line; returns where it begins.
int draw_alert(Canvas& canvas, const Scene& scene, int end) {
  const auto chip = [&](const std::string& text, Ink ink) {
    return canvas.grid.text_before(end, 0, text,
                                   {Ink::kOnColour, ink, true, false, !scene.state.colours}) -
           1;
  };
  if (scene.frame.recording) return chip(" recording ", Ink::kWarn);
  if (scene.frame.fleet && !scene.frame.fleet->problem.empty()) {
    return chip(" no answer from Prometheus ", Ink::kBad);
  }
  if (is_stale(scene.state) && !scene.state.paused) {
    return chip(fmt::format(" stale, {} old ", duration_text_of_seconds(scene.state.data_age_s)),
                Ink::kBad);
  }
  if (scene.state.paused) return chip(" paused ", Ink::kWarn);
  return end;
}

void draw_header(Canvas& canvas, const Scene& scene) {
  view::Grid& grid = canvas.grid;
  const bool wide = grid.columns() >= 108;
  // The tabs of a small terminal need the room of the name.
  int x = grid.columns() < 66 ? 0 : grid.text(0, 0, " ttmem ", looks::kTitle) + 1;
  char key = '1';
  for (const View view : views_of(scene.state)) {
    const bool chosen = scene.state.view == view;
    const Tab tab = tab_of(view);
    const std::string name =
        fmt::format(" {} {} ", view == View::kHelp ? '?' : key++, wide ? tab.name : tab.short_name);
    view::Look look = looks::kSoft;
    if (chosen) look = {Ink::kOnColour, Ink::kTitle, true, false, !scene.state.colours};
    const int used = grid.text(x, 0, name, look);
    canvas.zones.push_back({{x, 0, used, 1}, ZoneKind::kView, static_cast<int>(view)});
    x += used;
  }
  const int end = draw_alert(canvas, scene, grid.columns() - 1);
  const std::string status = status_text(scene);
  const std::string shown =
      end - x > view::drawn_columns(status) + 2 ? status : status.substr(status.find("  ") + 2);
  if (end - x > view::drawn_columns(shown) + 1) grid.text_before(end, 0, shown, looks::kSoft);
}

void draw_footer(Canvas& canvas, const Scene& scene) {
  view::Grid& grid = canvas.grid;
  const int y = grid.rows() - 1;
  const ListState& list = scene.state.list();
  int x = 1;
  if (scene.state.editing_filter || !list.filter.empty()) {
    x += grid.text(x, y, "filter ", looks::kSoft);
    x += grid.text(x, y, list.filter, looks::kKey.bold(), grid.columns() / 2);
    if (scene.state.editing_filter) grid.put(x++, y, U'▏', looks::kKey);
    x += 2;
  }
  if (scene.state.editing_filter) {
    grid.text(x, y, "Enter keeps it, Esc clears it", looks::kSoft, grid.columns() - x);
    return;
  }
  for (const Hint& hint : hints(scene)) {
    const int width = static_cast<int>(hint.shown.size() + hint.meaning.size()) + 1;
    if (x + width > grid.columns() - 1) break;
    canvas.zones.push_back({{x, y, width, 1}, ZoneKind::kKey, hint.key});
    x += grid.text(x, y, hint.shown, looks::kKey.bold()) + 1;
    x += grid.text(x, y, hint.meaning, looks::kSoft) + 2;
  }
}

void draw_sort_menu(Canvas& canvas, const Scene& scene) {
  const auto orders = order_titles(scene.state);
  const int rows = static_cast<int>(orders.size()) + 2;
  const view::Rect place{std::max(0, canvas.grid.columns() / 2 - 13),
                         std::max(1, (canvas.grid.rows() - rows) / 2), 26, rows};
  canvas.grid.fill(place, U' ', {});
  canvas.zones.clear();
  const view::Rect inside = draw_panel(canvas, place, "Sort by");
  for (int i = 0; i < static_cast<int>(orders.size()); ++i) {
    const view::Rect line{inside.x, inside.y + i, inside.columns, 1};
    const bool current = scene.state.list().sort == i;
    canvas.grid.text(line.x + 1, line.y, current ? "●" : " ", looks::kKey);
    canvas.grid.text(line.x + 3, line.y, orders[static_cast<std::size_t>(i)], looks::kText);
    if (i == scene.state.menu_row) canvas.grid.put_behind(line, Ink::kSelection);
    canvas.zones.push_back({line, ZoneKind::kSort, i});
  }
}

void draw_view(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  switch (scene.state.view) {
    case View::kOverview:
      return draw_overview(canvas, place, scene);
    case View::kDevice:
      return draw_device(canvas, place, scene);
    case View::kPrograms:
      return draw_programs(canvas, place, scene);
    case View::kProcess:
      return draw_process(canvas, place, scene);
    case View::kEvents:
      return draw_events(canvas, place, scene);
    case View::kDead:
      return draw_dead(canvas, place, scene);
    case View::kJobs:
      return draw_jobs(canvas, place, scene);
    case View::kHosts:
      return draw_hosts(canvas, place, scene);
    case View::kHost:
      return draw_host(canvas, place, scene);
    case View::kHelp:
      return draw_help(canvas, place, scene);
  }
}

}  // namespace

Canvas draw_screen(const Scene& scene, int columns, int rows) {
  Canvas canvas{view::Grid(columns, rows), {}};
  if (columns < kLeastColumns || rows < kLeastRows) {
    draw_centred(canvas, canvas.grid.area(),
                 {fmt::format("ttmem top needs {}x{}", kLeastColumns, kLeastRows),
                  fmt::format("this is {}x{}", columns, rows)});
    return canvas;
  }
  draw_header(canvas, scene);
  const int bar = scene.frame.recording ? 1 : 0;
  draw_view(canvas, {0, 1, columns, rows - 2 - bar}, scene);
  if (bar > 0) draw_time_bar(canvas, {0, rows - 2, columns, 1}, scene);
  draw_footer(canvas, scene);
  if (scene.state.sort_menu) draw_sort_menu(canvas, scene);
  return canvas;
}

}  // namespace ttmem::top
