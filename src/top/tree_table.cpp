// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a process holds as a tree of its stacks: steps fold and unfold.
#include <fmt/format.h>

#include "top/list_rows.hpp"
#include "top/listing.hpp"
#include "top/views.hpp"
#include "view/units.hpp"

namespace ttmem::top {
namespace {

// Of a path the last part: "model.py:81 forward".
std::string short_step(const std::string& name) {
  const std::size_t slash = name.rfind('/', name.find(' '));
  return slash == std::string::npos || !name.starts_with('/') ? name : name.substr(slash + 1);
}

std::vector<ListCell> step_cells(const Scene& scene, const TreeRow& row) {
  const ledger::OriginTotal& total = row.step.total;
  std::uint64_t recent = 0, buffers = 0;
  for (const ledger::Space space : ledger::kDeviceSpaces) {
    recent += total.space(space).recent.value_or(0);
    buffers += total.space(space).buffers;
  }
  const bool open = scene.state.unfolded.contains(row.step.path);
  const std::string mark = !row.step.has_inside ? "  " : open ? "▾ " : "▸ ";
  const std::string name = row.step.name.empty() ? "(not known)" : short_step(row.step.name);
  return {
      {std::string(2 * row.step.depth, ' ') + mark + name, looks::kText, {}},
      {scene.bytes(total.taken()), looks::kText, {}},
      {scene.bytes(total.at_peak()), looks::kSoft, {}},
      {recent > 0 ? "+" + scene.bytes(recent) : "-", recent > 0 ? looks::kWarn : looks::kFaint, {}},
      {view::exact_text(buffers), looks::kText, {}},
      {row.source, looks::kSoft, {}}};
}

}  // namespace

void draw_tree(Canvas& canvas, const view::Rect& place, const Scene& scene,
               const ledger::ProcessView& process) {
  const view::Rect inside =
      draw_panel(canvas, place, process.alive ? "By line" : "By line, at the end",
                 "Enter unfolds and folds, t shows the list");
  const auto rows = tree_rows(scene);
  if (rows.empty()) {
    const bool here = scene.frame.process && scene.frame.process->process == process_id(process);
    draw_centred(canvas, inside,
                 {process.segment.empty() ? "Only sums are known of it."
                  : here                  ? "It holds nothing."
                                          : "reading …"});
    return;
  }
  const int bytes = scene.state.exact ? 15 : 10;
  Listing listing = listing_of(scene.state, rows.size());
  listing.columns = {{"STEP", 24, false, 0, 2, ""},      {"BYTES", bytes, true, 0, 0, ""},
                     {"AT PEAK", bytes, true, 1, 0, ""}, {"NEW IN 60 S", bytes + 1, true, 2, 0, ""},
                     {"BUFFERS", 8, true, 3, 0, ""},     {"SOURCE", 20, false, 4, 3, ""}};
  listing.row = [&](int row) { return step_cells(scene, *rows[static_cast<std::size_t>(row)]); };
  draw_list(canvas, {inside.x + 1, inside.y, inside.columns - 2, inside.rows}, listing);
}

}  // namespace ttmem::top
