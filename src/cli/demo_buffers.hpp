// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Buffers of the busy demonstration. A small allocator of equal places, so that no two buffers ever
// lie over each other.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "cli/demo_mesh.hpp"

namespace ttmem::cli {

class DemoBuffers {
 public:
  // `places` of `place_bytes` in every bank, from `base` upwards.
  DemoBuffers(const DemoMesh& mesh, std::uint8_t space, std::uint32_t banks, std::uint64_t base,
              std::uint64_t place_bytes, std::uint32_t places);

  // Takes a random free place for up to `place_bytes`; empty when all are taken.
  std::optional<std::uint64_t> allocate(std::mt19937_64& random, std::uint32_t flags);
  void free(std::uint64_t id);
  void free_any(std::mt19937_64& random);

  std::size_t live() const { return live_.size(); }
  std::size_t places() const { return taken_.size(); }

 private:
  struct Live {
    std::uint64_t id;
    std::size_t place;
  };
  void release(std::size_t index);

  ttmem_allocator_t allocator_;
  std::uint8_t space_;
  std::uint32_t banks_;
  std::uint64_t base_, place_bytes_;
  std::uint64_t last_id_ = 0;
  std::vector<bool> taken_;
  std::vector<Live> live_;
};

}  // namespace ttmem::cli
