// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "top/controls.hpp"

#include <algorithm>
#include <array>

#include "top/fleet_rows.hpp"
#include "top/list_rows.hpp"
#include "top/sort_orders.hpp"
#include "top/time_bar.hpp"
#include "view/characters.hpp"

namespace ttmem::top {
namespace {

constexpr int kWheelRows = 3;
constexpr std::size_t kLongestFilter = 64;
constexpr char32_t kCtrlC = 3, kCtrlL = 12, kCtrlZ = 26;

int order_count(const ScreenState& state) { return static_cast<int>(order_titles(state).size()); }

void sort_by(ScreenState& state, int order) {
  ListState& list = state.list();
  const int orders = order_count(state);
  if (orders == 0) return;
  const int wanted = (order + orders) % orders;
  list.reversed = list.sort == wanted ? !list.reversed : false;
  list.sort = wanted;
}

// ---- views -------------------------------------------------------------------------------------

void go_to(ScreenState& state, View view) {
  if (view == View::kHelp && state.view != View::kHelp) state.before_help = state.view;
  state.view = view;
  state.sort_menu = state.editing_filter = false;
  state.open_failure = 0;
}

void go_by(ScreenState& state, int by) {
  const auto views = views_of(state);
  const auto size = static_cast<std::ptrdiff_t>(views.size());
  const std::ptrdiff_t now = std::ranges::find(views, state.view) - views.begin();
  go_to(state, views[static_cast<std::size_t>((now + by + size) % size)]);
}

void go_back(ScreenState& state) {
  if (state.view == View::kHelp) return go_to(state, state.before_help);
  if (state.open_failure != 0) {
    state.open_failure = 0;
  } else if (state.view == View::kProcess && state.failures) {
    state.failures = false;
  } else if (!state.list().filter.empty()) {
    state.list().filter.clear();
  } else if (state.view == View::kDevice && state.kernels) {
    state.kernels = false;
  } else if (state.view == View::kJobs && state.job) {
    state.job.reset();
    state.list().selected = 0;
  } else {
    go_to(state, views_of(state).front());
  }
}

void open_process(ScreenState& state, ProcessId process) {
  state.process = process;
  go_to(state, View::kProcess);
  state.failures = false;
  state.list().selected = 0;
}

// A step, and what is alone inside of it: below a notebook or a test runner, twenty steps branch
// nowhere.
void unfold(ScreenState& state, const std::vector<TreeRow>& tree, std::size_t row) {
  for (; row < tree.size() && tree[row].step.has_inside; ++row) {
    state.unfolded.insert(tree[row].step.path);
    const std::size_t inside = tree[row].step.depth + 1;
    for (std::size_t next = row + 2; next < tree.size() && tree[next].step.depth >= inside;
         ++next) {
      if (tree[next].step.depth == inside) return;
    }
  }
}

void fold_or_unfold(ScreenState& state, const Scene& scene, std::size_t selected) {
  const auto rows = tree_rows(scene);
  if (selected >= rows.size() || !rows[selected]->step.has_inside) return;
  if (state.unfolded.erase(rows[selected]->step.path) > 0) return;
  const auto& tree = scene.frame.process->tree;
  unfold(state, tree, static_cast<std::size_t>(rows[selected] - tree.data()));
}

// A job shows its ranks; a rank is a process, or what the job has on one host.
void open_job_row(ScreenState& state, const Scene& scene, std::size_t selected) {
  if (!state.job) {
    const auto rows = job_rows(scene);
    if (selected >= rows.size()) return;
    state.job = JobId{rows[selected].key, rows[selected].user};
    state.list().selected = 0;
  } else if (state.fleet) {
    const auto rows = part_rows(scene);
    if (selected >= rows.size()) return;
    state.host = rows[selected]->host;
    go_to(state, View::kHost);
  } else {
    const auto job = open_job(scene);
    if (job && selected < job->ranks.size()) {
      open_process(state, process_id(*job->ranks[selected].process));
    }
  }
}

void open_selected(ScreenState& state, const Shown& shown) {
  const Scene scene{shown.frame, shown.history, state};
  const auto selected = static_cast<std::size_t>(std::max(0, state.list().selected));
  if (state.view == View::kOverview) {
    if (state.row == RowKind::kNone) return select_row(state, shown, 0);
    if (state.row == RowKind::kDevice) return go_to(state, View::kDevice);
    if (state.process) open_process(state, *state.process);
  } else if (state.view == View::kDead) {
    const auto rows = process_rows(scene, false, state.list());
    if (selected < rows.size()) open_process(state, rows[selected].id);
  } else if (state.view == View::kPrograms) {
    const auto rows = program_rows(scene);
    if (selected < rows.size()) open_process(state, process_id(*rows[selected]->process));
  } else if (state.view == View::kDevice && state.kernels) {
    const auto rows = kernel_rows(scene);
    if (selected < rows.size()) open_process(state, process_id(*rows[selected]->process));
  } else if (state.view == View::kProcess && state.failures && state.open_failure == 0) {
    const ledger::ProcessView* process = scene.process();
    if (process == nullptr || selected >= process->failures.size()) return;
    state.open_failure = process->failures[selected].number;
    state.list().selected = 0;
  } else if (state.view == View::kProcess && !state.failures && state.tree) {
    fold_or_unfold(state, scene, selected);
  } else if (state.view == View::kHosts) {
    const auto rows = host_rows(scene);
    if (selected >= rows.size()) return;
    state.host = rows[selected]->name;
    go_to(state, View::kHost);
  } else if (state.view == View::kJobs) {
    open_job_row(state, scene, selected);
  }
}

// The neighbour of `now`, going round; of nobody, the first or the last.
template <typename Subject>
const Subject* neighbour(const std::vector<Subject>& all, const Subject* now, int by) {
  if (all.empty()) return nullptr;
  if (now == nullptr) return by > 0 ? &all.front() : &all.back();
  const auto size = static_cast<std::ptrdiff_t>(all.size());
  return &all[static_cast<std::size_t>((now - all.data() + by + size) % size)];
}

void next_subject(ScreenState& state, const Shown& shown, int by) {
  const Scene scene{shown.frame, shown.history, state};
  const ledger::Snapshot& snapshot = shown.frame.snapshot;
  if (state.view == View::kProcess) {
    const auto* next = neighbour(snapshot.processes, scene.process(), by);
    if (next != nullptr) open_process(state, process_id(*next));
  } else if (shown.frame.fleet) {
    const auto& hosts = shown.frame.fleet->fleet.hosts;
    const auto now = std::ranges::find(hosts, shown.frame.fleet->host, &fleet::HostRow::name);
    const auto* next = neighbour(hosts, now == hosts.end() ? nullptr : &*now, by);
    if (next != nullptr && state.view == View::kHost) state.host = next->name;
  } else {
    const auto* next = neighbour(snapshot.devices, scene.device(), by);
    if (next != nullptr) state.device = next->unique_id;
  }
}

void change_interval(ScreenState& state, bool faster) {
  constexpr std::array<double, 9> kSteps = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
  const auto now = std::lower_bound(kSteps.begin(), kSteps.end(), state.interval_s - 1e-9);
  if (faster) {
    state.interval_s = now == kSteps.begin() ? kSteps.front() : *std::prev(now);
  } else {
    const auto next = now == kSteps.end() || *now > state.interval_s + 1e-9 ? now : std::next(now);
    state.interval_s = next == kSteps.end() ? kSteps.back() : *next;
  }
}

// ---- inputs ------------------------------------------------------------------------------------

void edit_filter(ScreenState& state, const Input& input) {
  std::string& filter = state.list().filter;
  state.list().selected = 0;
  if (input.key == Key::kEnter) {
    state.editing_filter = false;
  } else if (input.key == Key::kEscape) {
    filter.clear();
    state.editing_filter = false;
  } else if (input.key == Key::kBackspace && !filter.empty()) {
    do {
      const bool continued = (static_cast<unsigned char>(filter.back()) & 0xC0) == 0x80;
      filter.pop_back();
      if (!continued) break;
    } while (!filter.empty());
  } else if (input.key == Key::kCharacter && !view::is_unsafe(input.character) &&
             filter.size() < kLongestFilter) {
    view::append_utf8(filter, input.character);
  }
}

void use_menu(ScreenState& state, const Input& input) {
  const int orders = order_count(state);
  switch (input.key) {
    case Key::kUp:
      state.menu_row = (state.menu_row + orders - 1) % orders;
      break;
    case Key::kDown:
      state.menu_row = (state.menu_row + 1) % orders;
      break;
    case Key::kEnter:
      sort_by(state, state.menu_row);
      state.sort_menu = false;
      break;
    case Key::kClick:
      break;
    default:
      state.sort_menu = false;
      break;
  }
}

// Once selects, once more opens. A click on a kernel goes to their list.
void click_row(ScreenState& state, const Shown& shown, int row) {
  const int selected =
      state.view == View::kOverview ? overview_row(state, shown) : state.list().selected;
  const bool again = selected == row && !on_cores(state);
  if (on_cores(state)) state.kernels = true;
  select_row(state, shown, row);
  if (again) open_selected(state, shown);
}

Outcome click(ScreenState& state, const Input& input, const Shown& shown) {
  const auto zone = std::find_if(shown.zones.rbegin(), shown.zones.rend(), [&](const Zone& one) {
    return one.place.contains(input.x, input.y);
  });
  if (zone == shown.zones.rend()) {
    state.sort_menu = false;
    return Outcome::kGoOn;
  }
  switch (zone->kind) {
    case ZoneKind::kView:
      go_to(state, static_cast<View>(zone->number));
      break;
    case ZoneKind::kRow:
      click_row(state, shown, zone->number);
      break;
    case ZoneKind::kCore:
      state.core_column = zone->number % 256;
      state.core_row = zone->number / 256;
      break;
    case ZoneKind::kKey:
      return apply(
          state, {.key = Key::kCharacter, .character = static_cast<char32_t>(zone->number)}, shown);
    case ZoneKind::kTime:
      go_to_part(state, shown.frame, zone->number);
      break;
    case ZoneKind::kSort:
      sort_by(state, zone->number);
      state.sort_menu = false;
      break;
  }
  return Outcome::kGoOn;
}

void open_menu(ScreenState& state) {
  if (order_titles(state).empty()) return;
  if (state.view == View::kDevice) state.kernels = true;
  state.sort_menu = true;
  state.menu_row = state.list().sort;
}

void open_filter(ScreenState& state) {
  state.editing_filter = state.view != View::kHelp;
  if (state.view == View::kDevice) state.kernels = true;
}

// Cores or kernels, figures or timeline, holdings or failures.
void show_other_list(ScreenState& state) {
  if (state.view == View::kPrograms) {
    state.timeline = !state.timeline;
  } else if (state.view == View::kDevice) {
    state.kernels = !state.kernels;
  } else if (state.view == View::kProcess) {
    state.failures = !state.failures;
    state.open_failure = 0;
  } else {
    return;
  }
  state.list().selected = 0;
}

Outcome press(ScreenState& state, char32_t character, const Shown& shown) {
  const auto views = views_of(state);
  if (character >= U'1' && character < U'1' + views.size() - 1) {
    go_to(state, views[character - U'1']);
    return Outcome::kGoOn;
  }
  switch (character) {
    case U'q':
    case U'Q':
      return Outcome::kQuit;
    case U'?':
    case U'h':
      go_to(state, state.view == View::kHelp ? state.before_help : View::kHelp);
      break;
    case U'/':
      open_filter(state);
      break;
    case U's':
      open_menu(state);
      break;
    case U'r':
      state.list().reversed = !state.list().reversed;
      break;
    case U' ':
      state.paused = !state.paused;
      break;
    case U'b':
      state.exact = !state.exact;
      break;
    case U't':
      if (state.view != View::kProcess || state.failures) break;
      state.tree = !state.tree;
      state.list().selected = 0;
      break;
    case U'+':
    case U'=':
      change_interval(state, true);
      break;
    case U'-':
      change_interval(state, false);
      break;
    case U'c':
      state.core_figure =
          static_cast<CoreFigure>((static_cast<int>(state.core_figure) + 1) % kCoreFigures);
      break;
    case U'n':
      next_subject(state, shown, 1);
      break;
    case U'p':
      next_subject(state, shown, -1);
      break;
    case U'f':
      show_other_list(state);
      break;
    case U'k':
      move_rows(state, shown, -1);
      break;
    case U'j':
      move_rows(state, shown, 1);
      break;
    case U'\r':
      open_selected(state, shown);
      break;
    case 0x1b:
      go_back(state);
      break;
    default:
      break;
  }
  return Outcome::kGoOn;
}

void sideways(ScreenState& state, const Shown& shown, int by) {
  if (on_cores(state)) return move_core(state, shown, by, 0);
  if (!order_titles(state).empty()) sort_by(state, state.list().sort + by);
}

// What a key means whatever is on the screen.
Outcome outcome_anywhere(const Input& input) {
  if (input.key != Key::kCharacter) return Outcome::kGoOn;
  return input.character == kCtrlC   ? Outcome::kQuit
         : input.character == kCtrlZ ? Outcome::kStop
         : input.character == kCtrlL ? Outcome::kRedraw
                                     : Outcome::kGoOn;
}

}  // namespace

Outcome apply(ScreenState& state, const Input& input, const Shown& shown) {
  if (const Outcome outcome = outcome_anywhere(input); outcome != Outcome::kGoOn) return outcome;
  if (state.editing_filter) {
    edit_filter(state, input);
    return Outcome::kGoOn;
  }
  if (state.sort_menu && input.key != Key::kClick) {
    use_menu(state, input);
    return Outcome::kGoOn;
  }
  if (apply_to_time(state, input, shown.frame)) return Outcome::kGoOn;
  switch (input.key) {
    case Key::kCharacter:
      return press(state, input.character, shown);
    case Key::kUp:
      move_rows(state, shown, -1);
      break;
    case Key::kDown:
      move_rows(state, shown, 1);
      break;
    case Key::kWheelUp:
      move_rows(state, shown, -kWheelRows);
      break;
    case Key::kWheelDown:
      move_rows(state, shown, kWheelRows);
      break;
    case Key::kPageUp:
      move_rows(state, shown, -std::max(1, shown.rows - kRowsAround - 2));
      break;
    case Key::kPageDown:
      move_rows(state, shown, std::max(1, shown.rows - kRowsAround - 2));
      break;
    case Key::kHome:
      move_rows(state, shown, -1'000'000);
      break;
    case Key::kEnd:
      move_rows(state, shown, 1'000'000);
      break;
    case Key::kLeft:
      sideways(state, shown, -1);
      break;
    case Key::kRight:
      sideways(state, shown, 1);
      break;
    case Key::kTab:
      go_by(state, 1);
      break;
    case Key::kBackTab:
      go_by(state, -1);
      break;
    case Key::kEnter:
      open_selected(state, shown);
      break;
    case Key::kEscape:
    case Key::kBackspace:
      go_back(state);
      break;
    case Key::kClick:
      return click(state, input, shown);
  }
  return Outcome::kGoOn;
}

}  // namespace ttmem::top
