// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "cli/demo_buffers.hpp"

#include <algorithm>

namespace ttmem::cli {
namespace {

constexpr std::uint64_t kAlignment = 32;

}  // namespace

DemoBuffers::DemoBuffers(const DemoMesh& mesh, std::uint8_t space, std::uint32_t banks,
                         std::uint64_t base, std::uint64_t place_bytes, std::uint32_t places)
    : allocator_(mesh.allocator),
      space_(space),
      banks_(banks),
      base_(base),
      place_bytes_(place_bytes),
      taken_(places) {}

std::optional<std::uint64_t> DemoBuffers::allocate(std::mt19937_64& random, std::uint32_t flags) {
  const std::size_t start = random() % taken_.size();
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    const std::size_t place = (start + i) % taken_.size();
    if (taken_[place]) continue;
    taken_[place] = true;
    live_.push_back({++last_id_, place});
    ttmem_buffer buffer{};
    buffer.id = last_id_;
    buffer.address = base_ + place * place_bytes_;
    buffer.block = (random() % (place_bytes_ / kAlignment) + 1) * kAlignment;
    buffer.requested = buffer.block * banks_ - random() % kAlignment;
    buffer.allocator = allocator_;
    buffer.space = space_;
    buffer.layout = TTMEM_LAYOUT_INTERLEAVED;
    buffer.flags = flags;
    ttmem_buffer_allocated(&buffer);
    return last_id_;
  }
  return std::nullopt;
}

void DemoBuffers::release(std::size_t index) {
  ttmem_buffer_freed(allocator_, space_, live_[index].id);
  taken_[live_[index].place] = false;
  live_[index] = live_.back();
  live_.pop_back();
}

void DemoBuffers::free(std::uint64_t id) {
  const auto found =
      std::find_if(live_.begin(), live_.end(), [&](const Live& each) { return each.id == id; });
  if (found != live_.end()) release(static_cast<std::size_t>(found - live_.begin()));
}

void DemoBuffers::free_any(std::mt19937_64& random) {
  if (!live_.empty()) release(random() % live_.size());
}

}  // namespace ttmem::cli
