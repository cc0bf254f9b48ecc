// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "ledger/origin_shares.hpp"

#include "ledger/books.hpp"
#include "ledger/saturating.hpp"

namespace ttmem::ledger {
namespace {

OriginShare share_of(const Books& books, const BufferRecord& buffer) {
  OriginShare share;
  share.origin = buffer.origin;
  share.name = buffer.operation;
  share.set = books.buffers.set_of(buffer);
  share.since = buffer.allocated;
  share.space = buffer.space;
  share.taken = books.buffers.bytes_of(buffer).taken;
  return share;
}

OriginShare share_of(const Books& books, const ProgramBook::Program& program) {
  OriginShare share;
  share.origin = program.record->origin;
  share.name = program.record->name;
  share.set = program.record->set;
  share.since = program.record->registered;
  for (const RangeRecord* range : program.ranges) {
    share.program_l1 = add(share.program_l1, allocated_by(books.catalog, *range));
  }
  if (!program.record->loaded) return share;
  for (const KernelRecord* kernel : program.kernels) {
    share.kernels = add(share.kernels, footprint_of(books.catalog, *kernel));
  }
  return share;
}

}  // namespace

void for_each_share(const Books& books, const std::function<void(const OriginShare&)>& visit) {
  books.slots.for_each([&](SlotIndex slot, const Record& record) {
    if (const auto* buffer = std::get_if<BufferRecord>(&record)) {
      if (books.buffers.is_in_totals(*buffer)) visit(share_of(books, *buffer));
    } else if (const auto* program = std::get_if<ProgramRecord>(&record)) {
      ProgramBook::Program found;
      if (!counts(*program) || !books.programs.find(program->id, program->set, found)) return;
      if (found.slot == slot) visit(share_of(books, found));
    }
  });
}

}  // namespace ttmem::ledger
