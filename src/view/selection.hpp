// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What somebody asked to see: one device, one process, some kinds of holdings. Commands and HTTP
// pages ask in the same words and filter by the same rules.
//
//   Selection selection;
//   selection.add("device", "0");           // --device 0, ?device=0
//   selection.find(snapshot);               // which one that is, or an error that says why not
//   if (selection.has(holding)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ledger/holding_page.hpp"
#include "ledger/snapshot.hpp"

namespace ttmem::view {

// What to do about a process that was asked for and that nobody knows.
std::string not_tracked_text(const ledger::ProcessSelector& process);

class Selection {
 public:
  // Takes a value for one of
  //   device   its id, or its unique id as 0x...
  //   pid      of a process, or its label where a pid is not enough: 1/81234
  //   process  the name of a process
  //   kind     of holdings; several are joined
  //   space    of buffers; several are joined
  // and ignores other names. "" if the value is right, else what it must be: "a number".
  std::string add(std::string_view name, std::string_view value);

  // The device of the snapshot that is meant, null if all are. An error if there is none such.
  Result<const ledger::DeviceView*> find(const ledger::Snapshot& snapshot);
  // Why a process that was asked for is not there; "" if it is, or none was asked for.
  std::string missing_process(const ledger::Snapshot& snapshot) const;

  const std::optional<ledger::ProcessSelector>& process() const { return process_; }

  // Whether it is selected. What the dead hold is only if a process is named.
  bool has(const ledger::ProcessName& process) const;
  bool has(const ledger::HoldingView& holding) const;
  bool has(const ledger::ProgramView& program) const;
  // Also of the dead: a failure is what many died of.
  bool has(const ledger::ProcessName& process, const ledger::FailureView& failure) const;
  // The same of holdings, as a question to those who keep them.
  ledger::HoldingQuestion holdings() const;
  // The selected processes, dead or alive, and the selected device with those that have it.
  ledger::Snapshot of(const ledger::Snapshot& snapshot) const;

 private:
  bool names(const ledger::ProcessName& process) const;
  bool has_device(const std::vector<std::uint32_t>& ids) const;

  struct Found {
    std::uint32_t id = 0;
    std::uint64_t unique_id = 0;
  };

  std::optional<ledger::DeviceSelector> device_;  // empty: all
  std::string device_text_;                       // as it was asked for
  std::optional<Found> found_;
  std::optional<ledger::ProcessSelector> process_;
  std::string process_name_;  // "" = any
  std::vector<ledger::HoldingKind> kinds_;
  std::vector<ledger::Space> spaces_;
};

}  // namespace ttmem::view
