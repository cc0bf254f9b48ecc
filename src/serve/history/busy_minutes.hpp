// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which programs were launched most: of each device the first few, minute by minute, from the
// series that the daemon's collector keeps.
#pragma once

#include <functional>
#include <vector>

#include "serve/history/query.hpp"

namespace ttmem::serve::history {

class BusyMinutes {
 public:
  using Programs = std::function<std::vector<ledger::ProgramView>()>;

  // Those of the last minute that is over, once; mostly nothing, and then `programs`, which gives
  // programs with their series, is not called.
  std::vector<BusyProgram> take(const ledger::Snapshot& snapshot, const Programs& programs);

 private:
  std::int64_t minute_ = 0;  // the one that goes on; 0: none yet
};

}  // namespace ttmem::serve::history
