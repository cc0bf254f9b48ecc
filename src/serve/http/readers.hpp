// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How many read streams, and which: so that only what somebody wants is worked out. Who works that
// out counts a reader before it is connected, so that it misses nothing; it leaves in another
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "serve/http/response.hpp"

namespace ttmem::serve::http {

class Readers {
 public:
  // One more, until the ticket is gone.
  std::shared_ptr<void> join(const StreamOptions& reader) {
    counts_->add(reader, 1);
    return {nullptr, [counts = counts_, reader](void*) { counts->add(reader, -1); }};
  }
  bool any() const { return any(Channel::kEverybody); }
  bool any(Channel channel) const { return counts_->of(channel) > 0; }
  bool any_packed() const { return counts_->packed > 0; }

 private:
  struct Counts {
    std::atomic<int>& of(Channel channel) {
      return of_channel.at(static_cast<std::size_t>(channel));
    }
    void add(const StreamOptions& reader, int count) {
      for (std::size_t i = 0; i < kChannels; ++i) {
        if (is_for(reader, static_cast<Channel>(i))) of_channel.at(i) += count;
      }
      if (reader.gzip) packed += count;
    }
    std::array<std::atomic<int>, kChannels> of_channel{};
    std::atomic<int> packed{};
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace ttmem::serve::http
