// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Removal of segments whose processes are gone. A segment is removed only by who holds its lock,
// and only if the path still names the file that was locked: so no living writer loses its file,
// and two removers never take the same one. The limits of what is kept hold for each owner:
// nobody's dead take the place of another's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ttmem::collect {

struct GcOptions {
  std::vector<std::string> directories;  // empty: as Options::directories
  std::string root;
  bool all = false;      // remove every dead segment, also those within the limits
  bool dry_run = false;  // say what would be removed
};

struct GcEntry {
  std::string path;
  std::int32_t pid = 0;
  std::string name;  // of the process
  std::uint64_t bytes = 0;
  std::string reason;  // why it was removed, or why not
};

struct GcReport {
  std::vector<GcEntry> removed;
  std::vector<GcEntry> kept;    // dead, within the limits
  std::vector<GcEntry> failed;  // dead, should go, could not be removed
  std::uint64_t removed_bytes = 0;
  std::uint64_t alive = 0;
};

GcReport collect_garbage(const GcOptions& options);

}  // namespace ttmem::collect
