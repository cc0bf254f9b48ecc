// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The snapshot as it is served. A refresh is compared with the one before, device by device and
// process by process; text is written only for what changed, only when somebody asks, and once for
// all who ask.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ledger/snapshot.hpp"
#include "view/json_values.hpp"

namespace ttmem::serve::http {

class LiveSnapshot {
 public:
  template <typename View>
  struct Part {
    View view;
    std::uint64_t changed = 0;  // the generation in which it became so
    std::string text;           // as JSON; "" = not written yet
  };
  using Device = Part<ledger::DeviceView>;
  using Process = Part<ledger::ProcessView>;

  // True if anything but the time differs from what was taken before.
  bool take(const ledger::Snapshot& snapshot);
  // Counts the changes; 0 before the first.
  std::uint64_t generation() const { return generation_; }
  // Without devices and processes: those are the parts.
  const ledger::Snapshot& frame() const { return frame_; }
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<Process>& processes() const { return processes_; }

  // A document in two pieces: the first has the time in it, the rest stays until the next change.
  struct Text {
    std::string start;
    std::shared_ptr<const std::string> rest;
  };
  // "snapshot".
  Text document(view::json::ProcessDetail detail = view::json::ProcessDetail::kFull);
  Text processes_document();  // "processes"
  // "device", with the processes that have it and their figures on it; "" if there is none.
  std::string device_document(std::uint32_t id) const;

 private:
  ledger::Snapshot frame_;
  std::vector<Device> devices_;
  std::vector<Process> processes_;
  std::uint64_t generation_ = 0;
  std::shared_ptr<const std::string> rest_, brief_rest_, processes_rest_;
};

}  // namespace ttmem::serve::http
