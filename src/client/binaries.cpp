// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which buffer holds a workload's kernel binaries: named in the workload's slot while both live.
#include "client/atomic_words.hpp"
#include "client/buffers.hpp"

namespace ttmem::client {

using segment::kNoSlot;
using segment::Payload;

namespace {

std::uint32_t tag_of(std::uint32_t buffer_slot) {
  return static_cast<std::uint32_t>(mix(buffer_slot));
}

}  // namespace

bool Buffers::bind_binaries(AllocatorState& allocator, std::uint64_t id,
                            std::uint32_t workload_slot) {
  unbind_binaries(workload_slot);
  if (binaries_.wants_preparation()) binaries_.prepare();
  const LockGuard guard(writer_->store.lock);
  const std::uint32_t buffer = find(allocator, TTMEM_SPACE_DRAM, id);
  if (buffer == SlotIndex::kNone) return false;
  forget_binaries(buffer);
  if (!binaries_.insert(overflow_, tag_of(buffer), workload_slot)) return false;
  add_flags(allocator, buffer, segment::kFlagKernelBinaries);
  name_binaries(workload_slot, buffer);
  return true;
}

void Buffers::unbind_binaries(std::uint32_t workload_slot) {
  const LockGuard guard(writer_->store.lock);
  const std::uint32_t buffer = writer_->store.slot(workload_slot).payload.cores;
  if (buffer != kNoSlot) forget_binaries(buffer);
}

void Buffers::forget_binaries(std::uint32_t buffer) {
  const std::uint32_t workload = binaries_.take(overflow_, tag_of(buffer), [&](std::uint32_t slot) {
    return writer_->store.slot(slot).payload.cores == buffer;
  });
  if (workload != SlotIndex::kNone) name_binaries(workload, kNoSlot);
}

void Buffers::name_binaries(std::uint32_t workload_slot, std::uint32_t buffer) {
  Payload payload = load_payload(writer_->store.slot(workload_slot).payload);
  payload.cores = buffer;
  writer_->store.commit_beside_live_words(workload_slot, payload);
}

}  // namespace ttmem::client
