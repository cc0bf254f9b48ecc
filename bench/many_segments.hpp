// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A busy host, in segments that were written beforehand: many processes with the same number of
// buffers each, half of them in L1. All processes are this one as far as lock and /proc say; what
// differs is the start of the name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../tests/segment/segment_builder.hpp"
#include "../tests/support/temporary_directory.hpp"
#include "collect/collector.hpp"

namespace ttmem::bench {

class ManySegments {
 public:
  static constexpr std::uint64_t kBlock = 2048;

  // The processes use the devices in turns, one each.
  ManySegments(std::uint32_t processes, std::uint32_t buffers, std::uint32_t devices)
      : buffers_(buffers) {
    std::vector<segment::Slot> slots(buffers);
    for (std::uint32_t i = 0; i < buffers; ++i) {
      slots[i] = {std::uint64_t{i + 1} << 1, buffer(i, i)};
    }
    for (std::uint32_t i = 0; i < processes; ++i) {
      const std::string name = fmt::format("ttmem-{}-{}-{:016x}", i + 1, i, i);
      auto builder = std::make_unique<support::SegmentBuilder>(directory_ / name);
      builder->header().nonce = i;
      builder->add_usual_device(1 + i % devices);
      builder->put_table(slots);
      builder->lock();
      processes_.push_back(std::move(builder));
    }
  }

  // Replaces every `step`-th buffer of every process, others each time.
  void change(std::uint32_t step) {
    ++round_;
    for (const auto& process : processes_) {
      for (std::uint32_t i = round_ % step; i < buffers_; i += step) {
        process->put(i, buffer(i, std::uint64_t{round_} * buffers_ + i));
      }
    }
  }

  const std::string& directory() const { return directory_.path(); }
  collect::Options options() const {
    collect::Options options;
    options.directories = {directory()};
    return options;
  }

 private:
  static segment::Payload buffer(std::uint32_t slot, std::uint64_t id) {
    return support::buffer_payload(id + 1, 4096 + slot * 2 * kBlock, kBlock, slot % 2);
  }

  std::uint32_t buffers_;
  support::TemporaryDirectory directory_;
  std::vector<std::unique_ptr<support::SegmentBuilder>> processes_;
  std::uint32_t round_ = 0;
};

}  // namespace ttmem::bench
