// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the host program does to a mesh of mock chips, in words short enough to write scenes with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metal.hpp"

namespace ttmem::runtime {

using tt::tt_metal::Buffer;
using tt::tt_metal::BufferType;
using BufferHandle = std::shared_ptr<Buffer>;

struct Options {
  std::size_t l1_small_bytes = 0;
  std::size_t trace_region_bytes = 0;
  bool interactive = false;  ///< wait for a line on standard input after each checkpoint
};

/// An open mesh of all chips, and the scene's way to talk about it.
class Mesh {
 public:
  explicit Mesh(const Options& options);

  void open();
  void close();

  BufferHandle interleaved(BufferType type, std::size_t bytes, std::size_t page_bytes) const;
  /// A height-sharded buffer: one shard of `shard_pages` pages of 2 KiB on each of `cores` cores of
  /// the first column.
  BufferHandle sharded(BufferType type, std::uint32_t cores, std::uint32_t shard_pages,
                       std::size_t page_bytes = 2048) const;

  /// Prints one line of JSON: what the runtime says is allocated, per space and bank.
  void checkpoint(const std::string& name);

  tt::tt_metal::distributed::MeshDevice& device() const { return *device_; }
  tt::tt_metal::IDevice* as_device() const;

 private:
  std::string circular_buffers() const;

  Options options_;
  std::shared_ptr<tt::tt_metal::distributed::MeshDevice> device_;
  /// Buffers may be freed after the close: their device must still exist.
  std::vector<std::shared_ptr<tt::tt_metal::distributed::MeshDevice>> closed_;
};

/// A workload that lives as long as the object.
class Workload {
 public:
  /// One program on all chips with `cb_count` circular buffers of `cb_bytes` each and a
  /// data-movement and a compute kernel, on a square of `side` x `side` cores.
  Workload(const Mesh& mesh, std::uint32_t side, std::uint32_t cb_count, std::uint32_t cb_bytes);
  /// A program of its own on each chip, with one core and one circular buffer, whose size is
  /// `first` on chip (0, 0), twice that on (0, 1), and 17 times that on (1, 0).
  struct PerChip {
    std::uint32_t first;
  };
  Workload(const Mesh& mesh, PerChip cb_bytes);
  /// One circular buffer, and one that is a view of `viewed`.
  Workload(const Mesh& mesh, std::uint32_t side, std::uint32_t cb_bytes, const Buffer& viewed);
  void enqueue();

 private:
  const Mesh& mesh_;
  tt::tt_metal::distributed::MeshWorkload workload_;
};

/// Scenes, by name. Each prints its checkpoints.
void play_buffers(Mesh& mesh);
void play_programs(Mesh& mesh);
void play_failures(Mesh& mesh);
void play_chip_failure(Mesh& mesh);
void play_threads(Mesh& mesh);
void play_reopen(Mesh& mesh);
void play_forks(Mesh& mesh);
void play_hold(Mesh& mesh);
/// Ends without any destructor, code 7; and with those of static objects only, code 5.
void play_leave_at_once(Mesh& mesh);
void play_leave_open(Mesh& mesh);

}  // namespace ttmem::runtime
