// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/labels.hpp"
#include "view/status_sections.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

using ledger::Space;

constexpr int kRowsForDevices = 3;  // titles, a device, their sum

std::vector<ListCell> device_cells(const Scene& scene, const ledger::ProcessDeviceView& device) {
  const ledger::DeviceFigures& figures = device.figures;
  const view::Look look = device.open ? looks::kText : looks::kFaint;
  const bool clash = figures.headroom.min.value_or(0) < 0;
  return {{"", looks::kTitle, {}},
          {scene.bytes(view::held(figures.space(Space::kDram))), look, {}},
          {scene.bytes(figures.space(Space::kDram).peak), looks::kSoft, {}},
          {scene.bytes(l1_held(figures)), look, {}},
          {scene.bytes(view::held(figures.space(Space::kL1))), look, {}},
          {scene.bytes(figures.space(Space::kL1).peak), looks::kSoft, {}},
          {scene.bytes(view::held(figures.space(Space::kL1Small))), look, {}},
          {scene.bytes(figures.program_l1.resident), look, {}},
          {scene.bytes(view::held(figures.space(Space::kTrace))), look, {}},
          {scene.bytes(figures.kernels.total().footprint), look, {}},
          {scene.signed_bytes(figures.headroom.min), clash ? looks::kBad : look, {}}};
}

bool look_the_same(const std::vector<ListCell>& a, const std::vector<ListCell>& b) {
  return std::ranges::equal(a, b, [](const ListCell& one, const ListCell& other) {
    return one.text == other.text && one.look == other.look;
  });
}

// Neighbours of which the same is said are one row: most meshes are one.
std::vector<std::vector<ListCell>> device_rows(const Scene& scene,
                                               const ledger::ProcessView& process) {
  std::vector<std::vector<ListCell>> rows;
  std::vector<std::vector<std::uint32_t>> ids;
  for (const ledger::ProcessDeviceView& device : process.devices) {
    std::vector<ListCell> cells = device_cells(scene, device);
    if (rows.empty() || !look_the_same(rows.back(), cells)) {
      rows.push_back(std::move(cells));
      ids.emplace_back();
    }
    ids.back().push_back(device.id);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].front().text = view::id_list(ids[i]) + (ids[i].size() > 1 ? " each" : "");
  }
  return rows;
}

std::vector<ListCell> sum_cells(const Scene& scene, const ledger::ProcessView& process) {
  const auto cell = [&](auto figure) {
    return ListCell{scene.bytes(over_devices(process, figure)), looks::kText.bold(), {}};
  };
  const auto taken = [&](Space space) {
    return cell([space](const auto& figures) { return view::held(figures.space(space)); });
  };
  return {{"Σ", looks::kTitle, {}},
          taken(Space::kDram),
          {},
          cell([](const auto& figures) { return l1_held(figures); }),
          taken(Space::kL1),
          {},
          taken(Space::kL1Small),
          cell([](const auto& figures) { return figures.program_l1.resident; }),
          taken(Space::kTrace),
          cell([](const auto& f) { return f.kernels.total().footprint; }),
          {}};
}

ListCell operation_cell(const std::string& name) {
  if (name.empty()) return {"(no operation named)", looks::kFaint, {}};
  return {name, looks::kText.bold(), {}};
}

// Of a path the last part: "model.py:81 forward".
std::string short_line(const std::string& line) {
  const std::size_t slash = line.rfind('/', line.find(' '));
  return slash == std::string::npos ? line : line.substr(slash + 1);
}

std::vector<ListCell> group_cells(const Scene& scene, const HoldingGroup& group,
                                  ledger::TimeNs now) {
  const std::string fresh = group.fresh_bytes > 0 ? "+" + scene.bytes(group.fresh_bytes) : "-";
  return {{group.what, looks::kText, {}},
          operation_cell(group.operation),
          {view::exact_text(group.count), looks::kText, {}},
          {scene.bytes(group.bytes), looks::kText, {}},
          {fresh, group.fresh_bytes > 0 ? looks::kWarn : looks::kFaint, {}},
          {view::age_text(group.youngest, now), looks::kSoft, {}},
          {view::age_text(group.oldest, now), looks::kSoft, {}}};
}

std::vector<ListCell> failure_cells(const Scene& scene, const ledger::FailureView& failure) {
  return {{std::to_string(failure.number), looks::kTitle, {}},
          {view::age_text(failure.time, scene.frame.snapshot.time), looks::kSoft, {}},
          {failure.kind, looks::kBad, {}},
          {scene.bytes(failure.requested), looks::kText, {}},
          {fmt::format("{}{}", failure.holdings, failure.truncated ? "+" : ""), looks::kText, {}},
          {failure.operation, looks::kText, {}},
          {view::gist(failure.message), looks::kSoft, {}}};
}

std::vector<ListCell> picture_cells(const Scene& scene, const ledger::HoldingView& holding) {
  const bool buffer = holding.kind == ledger::HoldingKind::kBuffer;
  return {{std::string(buffer ? view::title(holding.space) : ledger::name(holding.kind)),
           looks::kText,
           {}},
          operation_cell(holding.operation.empty() ? holding.name : holding.operation),
          {view::hex_text(holding.address), looks::kFaint, {}},
          {scene.bytes(holding.block), looks::kText, {}},
          {scene.bytes(buffer ? holding.taken : holding.footprint), looks::kText, {}},
          {holding.core_set, looks::kSoft, {}}};
}

// The whole message of the selected failure, at the bottom of the place; returns its lines.
int draw_message(Canvas& canvas, const view::Rect& place, const ledger::FailureView& failure) {
  const auto most = static_cast<std::size_t>(std::max(0, place.rows - 4));
  const auto lines = wrapped(failure.message, place.columns, most);
  int y = place.bottom() - static_cast<int>(lines.size());
  for (const std::string_view line : lines) canvas.grid.text(place.x, y++, line, looks::kText);
  return static_cast<int>(lines.size());
}

void draw_picture(Canvas& canvas, const view::Rect& place, const Scene& scene) {
  const auto& details = scene.frame.process;
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Failure {}: what was held", scene.state.open_failure),
                 "Esc goes back");
  if (!details || details->failure != scene.state.open_failure) {
    draw_centred(canvas, inside, {"reading …"});
    return;
  }
  if (!details->picture_problem.empty() || details->picture.empty()) {
    draw_centred(
        canvas, inside,
        {details->picture_problem.empty() ? "Nothing was held." : details->picture_problem});
    return;
  }
  const int bytes = scene.state.exact ? 15 : 10;
  Listing listing;
  listing.columns = {{"KIND", 10, false, 0, 0, ""},    {"OPERATION", 14, false, 0, 1, ""},
                     {"ADDRESS", 12, false, 2, 0, ""}, {"BLOCK", bytes, true, 1, 0, ""},
                     {"TAKEN", bytes, true, 0, 0, ""}, {"CORES", 12, false, 3, 0, ""}};
  listing.rows = static_cast<int>(details->picture.size());
  listing.selected = std::min(scene.state.list().selected, listing.rows - 1);
  listing.row = [&](int row) {
    return picture_cells(scene, details->picture[static_cast<std::size_t>(row)]);
  };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

}  // namespace

int process_device_rows(const Scene& scene, const ledger::ProcessView& process) {
  return static_cast<int>(device_rows(scene, process).size());
}

void draw_process_devices(Canvas& canvas, const view::Rect& place, const Scene& scene,
                          const ledger::ProcessView& process) {
  const view::Rect inside =
      draw_panel(canvas, place, process.alive ? "On its devices" : "On its devices, when it ended",
                 "L1 = buffers + L1_SMALL + program L1");
  auto rows = device_rows(scene, process);
  auto sums = process.devices.size() > 1 ? sum_cells(scene, process) : std::vector<ListCell>{};
  if (!sums.empty() && inside.rows < kRowsForDevices) {  // it says more than the first device
    rows = {std::exchange(sums, {})};
  }
  int name = 6;
  for (const auto& row : rows) name = std::max(name, view::drawn_columns(row.front().text));
  const int bytes = scene.state.exact ? 14 : 10;
  Listing listing;
  listing.columns = {{"DEVICE", name, false, 0, 0, ""},    {"DRAM", bytes, true, 0, 0, ""},
                     {"PEAK", bytes, true, 3, 0, ""},      {"L1 USED", bytes, true, 0, 0, ""},
                     {"=BUFFERS", bytes, true, 1, 0, ""},  {"PEAK", bytes, true, 5, 0, ""},
                     {"+L1_SMALL", bytes, true, 4, 0, ""}, {"+PROGRAM", bytes, true, 2, 0, ""},
                     {"TRACE", bytes, true, 7, 0, ""},     {"KERNELS", bytes, true, 6, 0, ""},
                     {"HEADROOM", bytes, true, 8, 0, ""}};
  listing.rows = static_cast<int>(rows.size());
  listing.row = [&](int row) { return rows[static_cast<std::size_t>(row)]; };
  listing.footer = std::move(sums);
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

void draw_groups(Canvas& canvas, const view::Rect& place, const Scene& scene,
                 const ledger::ProcessView& process) {
  const auto rows = group_rows(scene);
  const std::string failures =
      process.failures.empty()
          ? ""
          : view::count_text(process.failures.size(), "failure") + ", f shows them";
  const view::Rect inside =
      draw_panel(canvas, place, process.alive ? "Holdings" : "Held at the end", failures);
  const bool here = scene.frame.process && scene.frame.process->process == process_id(process);
  if (!here || rows.empty()) {
    draw_centred(canvas, inside,
                 {process.segment.empty()             ? "Only sums are known of it."
                  : !here                             ? "reading …"
                  : scene.state.list().filter.empty() ? "It holds nothing."
                                                      : "No holding matches the filter."});
    return;
  }
  const int bytes = scene.state.exact ? 15 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {
      {"KIND", 19, false, 1, 0, ""},
      {"OPERATION OR NAME", 16, false, 0, 1, "operation"},
      {"COUNT", 9, true, 2, 0, "count"},
      {"BYTES", bytes, true, 0, 0, "bytes"},
      {process.alive ? "NEW IN 60 S" : "LAST 60 S", bytes + 1, true, 0, 0, "new in 60 s"},
      {"YOUNGEST", 9, true, 4, 0, ""},
      {"OLDEST", 9, true, 3, 0, "age"}};
  const ledger::TimeNs now = last_moment(process, scene.frame.snapshot.time);
  const bool with_lines =
      std::ranges::any_of(rows, [](const HoldingGroup* group) { return !group->line.empty(); });
  constexpr int kLinePlace = 2;
  if (with_lines) {
    listing.columns.insert(listing.columns.begin() + kLinePlace, {"LINE", 18, false, 1, 1, ""});
  }
  listing.row = [&, with_lines](int row) {
    const HoldingGroup& group = *rows[static_cast<std::size_t>(row)];
    std::vector<ListCell> cells = group_cells(scene, group, now);
    if (with_lines) {
      cells.insert(cells.begin() + kLinePlace, {short_line(group.line), looks::kText, {}});
    }
    return cells;
  };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

void draw_failures(Canvas& canvas, const view::Rect& place, const Scene& scene,
                   const ledger::ProcessView& process) {
  if (scene.state.open_failure != 0) {
    draw_picture(canvas, place, scene);
    return;
  }
  const view::Rect inside =
      draw_panel(canvas, place, fmt::format("Failures {}", process.failures.size()),
                 "Enter shows what was held");
  if (process.failures.empty()) {
    draw_centred(canvas, inside, {"Nothing failed."});
    return;
  }
  Listing listing;
  listing.columns = {{"#", 2, true, 0, 0, ""},        {"AGO", 9, true, 1, 0, ""},
                     {"KIND", 21, false, 0, 0, ""},   {"REQUESTED", 10, true, 2, 0, ""},
                     {"HELD", 6, true, 4, 0, ""},     {"OPERATION", 14, false, 3, 1, ""},
                     {"MESSAGE", 10, false, 0, 4, ""}};
  listing.rows = static_cast<int>(process.failures.size());
  listing.selected = std::min(scene.state.list().selected, listing.rows - 1);
  listing.row = [&](int row) {
    return failure_cells(scene, process.failures[static_cast<std::size_t>(row)]);
  };
  view::Rect place_of_list{inside.x + 1, inside.y, inside.columns - 2, inside.rows};
  place_of_list.rows -= draw_message(canvas, place_of_list,
                                     process.failures[static_cast<std::size_t>(listing.selected)]);
  draw_list(canvas, place_of_list, listing);
}

}  // namespace ttmem::top
