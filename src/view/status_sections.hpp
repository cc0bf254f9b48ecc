// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The parts of the status report, one function a part. Each ends with a line break, or is empty
// when there is nothing to say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/snapshot.hpp"
#include "view/style.hpp"

namespace ttmem::view {

// How far the figures of a device can be trusted, in one word or two.
struct Trust {
  std::string text;
  Tone tone = Tone::kPlain;
};
Trust trust(const ledger::Tracking& tracking);
// The least trusted of the living processes that have the device open.
Trust trust(const ledger::Snapshot& snapshot, std::uint64_t unique_id);

std::string device_tree(const ledger::DeviceView& device, const Trust& trust, const Style& style);
std::string process_table(const ledger::Snapshot& snapshot, const Style& style);
std::string ended_list(const ledger::Snapshot& snapshot, const Style& style);
std::string notices(const ledger::Snapshot& snapshot, const Style& style);

// What is held in a space, as amount() says it (view/labels.hpp).
ledger::Figure held(const ledger::SpaceFigures& space);
// Why no lines of Python are told, where that was refused; else "".
std::string no_lines_text(const ledger::Tracking& tracking);

// "injector", "api+upstream", "api via daemon".
std::string sources_text(const std::vector<ledger::Source>& sources);
// The user's name, or number where it has none, made printable.
std::string user_text(const ledger::ProcessView& process);
// The line of an error that says what went wrong, made printable: TT-Metal puts it behind "info:",
// after the place in its source and before the backtrace.
std::string gist(const std::string& message);
// "python3 (4711)", made printable.
std::string process_label(const ledger::ProcessName& process);
// "0-3,6".
std::string id_list(const std::vector<std::uint32_t>& ids);

}  // namespace ttmem::view
