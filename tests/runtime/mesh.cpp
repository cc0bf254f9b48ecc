// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <sstream>

#include "scene.hpp"

namespace ttmem::runtime {

namespace metal = tt::tt_metal;
namespace distributed = tt::tt_metal::distributed;

namespace {

constexpr struct {
  BufferType type;
  const char* name;
} kSpaces[] = {{BufferType::DRAM, "dram"},
               {BufferType::L1, "l1"},
               {BufferType::L1_SMALL, "l1_small"},
               {BufferType::TRACE, "trace"}};

std::string space_json(const metal::IDevice* device, BufferType type) {
  const auto view = metal::detail::GetMemoryView(device, type);
  std::ostringstream out;
  out << "{\"banks\":" << view.banks << ",\"bank_bytes\":" << view.bank_bytes
      << ",\"allocated\":" << view.allocated << ",\"largest_free\":" << view.largest_free << "}";
  return out.str();
}

void wait_for_reader() {
  std::string line;
  std::getline(std::cin, line);
}

}  // namespace

Mesh::Mesh(const Options& options) : options_(options) { open(); }

void Mesh::open() {
  device_ = distributed::MeshDevice::create({}, options_.l1_small_bytes,
                                            options_.trace_region_bytes, 1, {}, {}, 0);
}

void Mesh::close() {
  device_->close();
  closed_.push_back(std::move(device_));
}

metal::IDevice* Mesh::as_device() const { return reinterpret_cast<metal::IDevice*>(device_.get()); }

BufferHandle Mesh::interleaved(BufferType type, std::size_t bytes, std::size_t page_bytes) const {
  return metal::BufferImpl::create(as_device(), bytes, page_bytes, type, {}, std::nullopt,
                                   std::nullopt);
}

BufferHandle Mesh::sharded(BufferType type, std::uint32_t cores, std::uint32_t shard_pages,
                           std::size_t page_bytes) const {
  const metal::CoreRange column{{0, 0}, {0, cores - 1}};
  const metal::ShardSpecBuffer spec{
      {metal::CoreRangeSet(column), {32 * shard_pages, 32}, metal::ShardOrientation::ROW_MAJOR},
      {32, 32},
      {cores * shard_pages, 1}};
  return metal::BufferImpl::create(
      as_device(), page_bytes * shard_pages * cores, page_bytes, type,
      metal::BufferShardingArgs(spec, metal::TensorMemoryLayout::HEIGHT_SHARDED), std::nullopt,
      std::nullopt);
}

std::string Mesh::circular_buffers() const {
  std::ostringstream out;
  for (std::size_t row = 0; row < device_->num_rows(); ++row) {
    for (std::size_t column = 0; column < device_->num_cols(); ++column) {
      const auto* chip = reinterpret_cast<const metal::Device*>(device_->get_device(row, column));
      out << (row + column ? "," : "") << chip->get_total_cb_allocated();
    }
  }
  return out.str();
}

void Mesh::checkpoint(const std::string& name) {
  std::ostringstream out;
  out << "{\"checkpoint\":\"" << name << "\",\"pid\":" << ::getpid() << ",\"open\":" << !!device_;
  if (device_) {
    out << ",\"chips\":[";
    const char* separator = "";
    for (const int id : device_->get_device_ids()) {
      out << separator << id;
      separator = ",";
    }
    out << "],\"rows\":" << device_->num_rows() << ",\"columns\":" << device_->num_cols()
        << ",\"cb_allocated\":[" << circular_buffers() << "]";
    for (const auto& [type, label] : kSpaces) {
      out << ",\"" << label << "\":" << space_json(as_device(), type);
    }
  }
  std::cout << out.str() << "}" << std::endl;
  if (options_.interactive) wait_for_reader();
}

}  // namespace ttmem::runtime
