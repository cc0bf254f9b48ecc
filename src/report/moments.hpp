// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a report takes from one moment, and how it becomes fit to be given away.
#pragma once

#include "collect/collector.hpp"
#include "report/report.hpp"
#include "view/text_editor.hpp"

namespace ttmem::report {

// What the living hold of a space at this moment.
SpacePeak held_at(const collect::Collector& collector, ledger::Space space);
// What each process held when it was fullest, or now, where that is not known. With `the_dead`,
// also of those that ended.
SpacePeak held_at_own_peaks(const collect::Collector& collector, ledger::Space space,
                            bool the_dead);
// Of all devices; nothing where none is known.
std::optional<std::int64_t> least_headroom(const ledger::Snapshot& snapshot);
std::optional<TightestCore> tightest_core(const collect::Collector& collector);

// Fills in the failures that processes keep, with what is to be said about them.
void explain_all(const collect::Collector& collector, Report& report, view::TextEditor& editor);

// Texts of strangers become harmless, and what the editor hides is hidden.
void edit(Report& report, view::TextEditor& editor);
// Keeps what fits into a file that people attach to a ticket, the most important first.
void shorten(Report& report);

}  // namespace ttmem::report
