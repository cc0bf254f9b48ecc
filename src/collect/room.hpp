// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Whether there is room for another recording, and if not, who took it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ttmem::collect {

struct Room {
  struct Share {
    std::uint32_t owner = 0;
    std::size_t files = 0;
    std::uint64_t bytes = 0;
  };
  std::string path;
  std::uint64_t total_bytes = 0, free_bytes = 0;
  bool has_room = false;      // for a process that starts to record
  std::vector<Share> shares;  // of all files in it, the largest first
};

// The directories in which a process of this user would try to record, in its order; those that do
// not exist or may not be written are left out. The last one is made when it is needed: until then
// it is its parent.
std::vector<Room> rooms_to_record();

}  // namespace ttmem::collect
