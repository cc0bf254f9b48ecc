// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/origin_shares.hpp"

#include "ledger/live_state.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

OriginShare share_of(const LiveState& live, const BufferRecord& buffer) {
  OriginShare share;
  share.origin = buffer.origin;
  share.name = buffer.operation;
  share.set = live.buffers.set_of(buffer);
  share.since = buffer.allocated;
  share.space = buffer.space;
  share.requested = buffer.requested;
  share.taken = live.buffers.bytes_of(buffer).taken;
  return share;
}

OriginShare share_of(const LiveState& live, const LivePrograms::Program& program) {
  OriginShare share;
  share.origin = program.record->origin;
  share.name = program.record->name;
  share.set = program.record->set;
  share.since = program.record->registered;
  for (const RangeRecord* range : program.ranges) {
    share.program_l1 = add(share.program_l1, allocated_by(live.catalog, *range));
  }
  if (!program.record->loaded) return share;
  for (const KernelRecord* kernel : program.kernels) {
    share.kernels = add(share.kernels, footprint_of(live.catalog, *kernel));
  }
  return share;
}

}  // namespace

void for_each_share(const LiveState& live, const std::function<void(const OriginShare&)>& visit) {
  live.slots.for_each([&](SlotIndex slot, const Record& record) {
    if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
      if (live.buffers.is_in_totals(*buffer)) visit(share_of(live, *buffer));
    } else if (const auto* program = std::get_if<ProgramRecord>(&record)) {
      LivePrograms::Program found;
      if (!counts(*program) || !live.programs.find(program->id, program->set, found)) return;
      if (found.slot == slot) visit(share_of(live, found));
    }
  });
}

}  // namespace ttmem::ledger
