// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include <stdexcept>

#include "fake_metal.hpp"
#include "observed.hpp"

namespace fake {

std::string throw_in;
unsigned allocations = 0;
std::function<void()> while_asked;

void maybe_throw(const char* function) {
  if (throw_in == function) throw std::runtime_error(std::string("told to throw in ") + function);
}

}  // namespace fake

namespace tt::tt_metal {

namespace {
constexpr std::uint32_t kShards = 2;
}

Buffer::Buffer(IDevice* device, AllocatorImpl* allocator, std::uint64_t size, BufferType type,
               Placement where)
    : placement(where), device_(device), allocator_(allocator), size_(size), type_(type) {
  static std::size_t next = 1;
  id_ = next++;
  given = allocator->allocate_buffer(this);
}

Buffer::~Buffer() { allocator_->deallocate_buffer(this); }

std::uint64_t Buffer::size() const { return size_; }
BufferType Buffer::buffer_type() const { return type_; }
int Buffer::buffer_layout() const { return placement == Placement::INTERLEAVED ? 0 : 2; }
IDevice* Buffer::device() const { return device_; }
std::size_t Buffer::unique_id() const { return id_; }

std::optional<std::uint32_t> Buffer::num_cores() const {
  if (placement == Placement::INTERLEAVED) return std::nullopt;
  return kShards;
}

ShardSpecBuffer Buffer::shard_spec() const {
  return {CoreRangeSet(std::vector<CoreRange>{{{0, 0}, {1, 0}}}), {}};
}

std::uint64_t Buffer::aligned_size_per_bank() const {
  const std::uint64_t banks =
      placement == Placement::INTERLEAVED ? allocator_->get_num_banks(type_) : kShards;
  return (size_ + banks - 1) / banks;
}

AllocatorImpl::~AllocatorImpl() {
  fake::observed::ended(experimental::ObservedThing::ALLOCATOR, fake::observed::id_of(this));
}

std::uint64_t AllocatorImpl::allocate_buffer(Buffer* buffer) {
  fake::maybe_throw("allocate_buffer");
  ++fake::allocations;
  const std::uint64_t need = buffer->aligned_size_per_bank();
  const auto statistics = get_statistics(buffer->buffer_type());
  if (need > statistics.free) {
    constexpr const char* kMessage = "Out of Memory: Not enough space";
    fake::observed::out_of_memory(*this, *buffer, kMessage);
    throw std::runtime_error(kMessage);
  }
  const std::uint64_t block = (need + 31) / 32 * 32;
  next_ += 32;
  if (buffer->placement == Placement::PER_CORE) {
    // Taken on two cores only; the statistics of the banks do not know it.
    buffer->addresses = {{{0, 0}, fake::kL1Base + next_}, {{1, 0}, fake::kL1Base + 2 * next_}};
    fake::observed::allocated(*this, *buffer, block, 0);
    return 0;
  }
  live_[buffer] = block;
  std::uint64_t& taken = taken_[static_cast<int>(buffer->buffer_type())];
  taken += block;
  // The region of traces is one bottom-up stack above the other DRAM.
  const std::uint64_t region = get_base_allocator_addr(HalMemType::DRAM) + fake::kBankBytes;
  const std::uint64_t address =
      buffer->buffer_type() == BufferType::TRACE ? region + taken - block : fake::kL1Base + next_;
  fake::observed::allocated(*this, *buffer, block, address);
  return address;
}

void AllocatorImpl::deallocate_buffer(Buffer* buffer) {
  const auto found = live_.find(buffer);
  if (found != live_.end() || buffer->placement == Placement::PER_CORE) {
    fake::observed::freed(*this, *buffer);
  }
  if (found == live_.end()) return;
  taken_[static_cast<int>(buffer->buffer_type())] -= found->second;
  live_.erase(found);
}

void AllocatorImpl::deallocate_buffers() {
  fake::maybe_throw("deallocate_buffers");
  clear();
}

void AllocatorImpl::clear() {
  fake::maybe_throw("clear");
  fake::observed::cleared(*this);
  live_.clear();
  for (auto& taken : taken_) taken = 0;
}

void AllocatorImpl::shrink_allocator_size(const BufferType&, unsigned long bytes, bool) {
  fake::maybe_throw("shrink_allocator_size");
  shrunk_ = bytes;
  fake::observed::resized(*this);
}

void AllocatorImpl::reset_allocator_size(const BufferType&) {
  fake::maybe_throw("reset_allocator_size");
  shrunk_ = 0;
  fake::observed::resized(*this);
}

void AllocatorImpl::override_state(const AllocatorState& state) {
  fake::maybe_throw("override_state");
  taken_[static_cast<int>(BufferType::L1)] = state.taken;
}

bool experimental::per_core_allocation::is_per_core_allocation(const Buffer& buffer) {
  return buffer.placement == Placement::PER_CORE;
}

const std::unordered_map<xy_pair, std::uint64_t, CoreHash>&
experimental::per_core_allocation::get_per_core_addresses(const Buffer& buffer) {
  return buffer.addresses;
}

std::uint64_t AllocatorImpl::bank_bytes(BufferType type) const {
  if (type == BufferType::DRAM) return fake::kBankBytes;
  if (type == BufferType::L1) return fake::kL1Bytes - fake::kL1Base - shrunk_;
  return type == BufferType::TRACE ? fake::kTraceBankBytes : 0;
}

Statistics AllocatorImpl::get_statistics(const BufferType& type) const {
  if (fake::while_asked) fake::while_asked();
  Statistics statistics{bank_bytes(type), taken_[static_cast<int>(type)], 0, 0};
  statistics.free = statistics.largest_free = statistics.allocatable - statistics.allocated;
  return statistics;
}

std::uint32_t AllocatorImpl::get_num_banks(const BufferType& type) const {
  return type == BufferType::DRAM || type == BufferType::TRACE ? fake::kDramBanks : fake::kWorkers;
}

std::uint32_t AllocatorImpl::get_alignment(BufferType type) const {
  return type == BufferType::DRAM || type == BufferType::TRACE ? 32 : 16;
}

std::uint64_t AllocatorImpl::get_base_allocator_addr(const HalMemType& memory) const {
  return memory == HalMemType::L1 ? fake::kL1Base : 64;
}

xy_pair AllocatorImpl::get_logical_core_from_bank_id(std::uint32_t bank) const {
  return {bank % 2, bank / 2};
}

}  // namespace tt::tt_metal
