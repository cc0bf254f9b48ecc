// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Every figure is defined in docs/figures.md, as the table of figures has it.
#include "ledger/figure_table.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ttmem::ledger {
namespace {

// "### Space" and the rows under it, as "Space | taken | bytes | ...".
std::set<std::string> documented() {
  std::set<std::string> rows;
  std::ifstream file(TTMEM_SOURCE_DIR "/docs/figures.md");
  std::string line, heading;
  while (std::getline(file, line)) {
    if (line.starts_with("### ")) heading = line.substr(4);
    const bool has_unit =
        line.find("| bytes |") != std::string::npos || line.find("| count |") != std::string::npos;
    const bool has_columns = std::count(line.begin(), line.end(), '|') == 6;
    if (has_unit && has_columns) rows.insert(heading + " " + line);
  }
  return rows;
}

std::string row_text(std::string_view heading, const FigureRow& row) {
  return fmt::format("{} | {} | {} | {} | {} | {} |", heading, row.name, name(row.unit),
                     name(row.merge), name(row.idle), row.definition);
}

std::set<std::string> defined() {
  std::set<std::string> rows;
  const auto add = [&rows](std::string_view heading, const auto& figures) {
    for (const auto& [member, row] : figures) rows.insert(row_text(heading, row));
  };
  add("Space", figure_table::kOfSpace);
  add("L1Total", figure_table::kOfL1Total);
  add("ProgramL1", figure_table::kOfProgramL1);
  add("KernelType", figure_table::kOfKernelType);
  add("Kernels", figure_table::kOfKernels);
  rows.insert(row_text("L1Total", figure_table::kL1Used));
  return rows;
}

TEST(FigureTable, IsWhatTheDocumentDefines) {
  const std::set<std::string> in_document = documented(), in_table = defined();
  for (const std::string& row : in_table) {
    EXPECT_TRUE(in_document.contains(row)) << "docs/figures.md lacks: " << row;
  }
  for (const std::string& row : in_document) {
    EXPECT_TRUE(in_table.contains(row)) << "no such figure: " << row;
  }
}

// A figure that a walk leaves out would be in no sum and in no document.
TEST(FigureTable, EveryPlaceIsWalkedOnce) {
  DeviceFigures figures;
  std::set<const Figure*> places;
  std::set<std::string> paths;
  for_each_figure(
      [&](const FigureGroup& group, const FigureRow& row, Figure& figure) {
        EXPECT_TRUE(places.insert(&figure).second) << group.path << "." << row.name;
        EXPECT_TRUE(paths.insert(fmt::format("{}.{}", group.path, row.name)).second);
      },
      figures);
  const std::size_t of_spaces = sizeof(SpaceFigures) / sizeof(Figure) * kDeviceSpaces.size();
  const std::size_t of_types = sizeof(KernelTypeFigures) / sizeof(Figure) * (kKernelTypes + 1);
  const std::size_t of_kernels = kCoreTypes + figure_table::kOfKernels.size();
  EXPECT_EQ(places.size(),
            of_spaces + 1 + sizeof(ProgramL1Figures) / sizeof(Figure) + of_types + of_kernels);
}

}  // namespace
}  // namespace ttmem::ledger
