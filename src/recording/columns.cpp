// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "recording/columns.hpp"

#include <concepts>

namespace ttmem::recording {

namespace {

constexpr std::uint64_t zigzag(std::uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t word) { return (word >> 1) ^ (0 - (word & 1)); }

// Fields by their getter and setter; differences are taken to what `before` said.
template <typename Word, typename Get>
void pack_column(std::span<const SlotRecord> records, std::byte*& out, Get get) {
  for (std::size_t byte = 0; byte < sizeof(Word); ++byte) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      *out++ = static_cast<std::byte>(static_cast<Word>(get(i)) >> (8 * byte));
    }
  }
}

template <typename Word, typename Set>
void unpack_column(const std::byte*& in, std::size_t count, Set set) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < sizeof(Word); ++byte) {
      word |= std::to_integer<std::uint64_t>(in[byte * count + i]) << (8 * byte);
    }
    set(i, static_cast<Word>(word));
  }
  in += sizeof(Word) * count;
}

}  // namespace

std::uint64_t ticks_of(const segment::Payload& payload) {
  using segment::Kind;
  const Kind kind = segment::Meta::kind(payload.meta);
  const bool says = kind == Kind::kNote || kind == Kind::kBuffer || kind == Kind::kProgram;
  return says ? payload.time : 0;
}

void pack_columns(std::span<const SlotRecord> records, std::vector<std::byte>& into) {
  using std::uint16_t, std::uint32_t, std::uint64_t;
  const std::size_t start = into.size();
  into.resize(start + records.size() * kPackedRecordBytes);
  std::byte* out = into.data() + start;
  const auto changes = [&](auto get) {
    return [&records, get](std::size_t i) {
      return zigzag(get(records[i]) - (i == 0 ? 0 : get(records[i - 1])));
    };
  };
  const auto plain = [&](auto get) {
    return [&records, get](std::size_t i) { return get(records[i]); };
  };
  const auto step = [&](std::size_t i) {
    return zigzag(records[i].number - (i == 0 ? 0 : records[i - 1].number + 1));
  };
  pack_column<uint64_t>(records, out, step);
  pack_column<uint32_t>(records, out, plain([](const SlotRecord& r) { return r.slot; }));
  pack_column<uint64_t>(records, out, plain([](const SlotRecord& r) { return r.payload.meta; }));
  pack_column<uint64_t>(records, out, changes([](const SlotRecord& r) { return r.payload.id; }));
  pack_column<uint64_t>(records, out, plain([](const SlotRecord& r) { return r.payload.a; }));
  pack_column<uint64_t>(records, out, plain([](const SlotRecord& r) { return r.payload.b; }));
  pack_column<uint64_t>(records, out, changes([](const SlotRecord& r) { return r.payload.time; }));
  pack_column<uint16_t>(records, out, plain([](const SlotRecord& r) { return r.payload.set; }));
  pack_column<uint16_t>(records, out,
                        plain([](const SlotRecord& r) { return r.payload.allocator; }));
  pack_column<uint32_t>(records, out, plain([](const SlotRecord& r) { return r.payload.cores; }));
  pack_column<uint32_t>(records, out,
                        plain([](const SlotRecord& r) { return r.payload.operation; }));
  pack_column<uint32_t>(records, out, plain([](const SlotRecord& r) { return r.payload.origin; }));
}

bool unpack_columns(std::span<const std::byte> columns, std::size_t count,
                    std::vector<SlotRecord>& into) {
  using std::uint16_t, std::uint32_t, std::uint64_t;
  if (columns.size() / kPackedRecordBytes != count || columns.size() % kPackedRecordBytes != 0) {
    return false;
  }
  into.assign(count, {});
  const std::byte* in = columns.data();
  uint64_t number = ~0ull;
  uint64_t id = 0;
  uint64_t time = 0;
  const auto to = [&](auto member) {
    return [&into, member](std::size_t i, auto word) { into[i].payload.*member = word; };
  };
  using segment::Payload;
  unpack_column<uint64_t>(in, count, [&](std::size_t i, uint64_t word) {
    into[i].number = number = number + 1 + unzigzag(word);
  });
  unpack_column<uint32_t>(in, count, [&](std::size_t i, uint32_t word) { into[i].slot = word; });
  unpack_column<uint64_t>(in, count, to(&Payload::meta));
  unpack_column<uint64_t>(in, count, [&](std::size_t i, uint64_t word) {
    into[i].payload.id = id = id + unzigzag(word);
  });
  unpack_column<uint64_t>(in, count, to(&Payload::a));
  unpack_column<uint64_t>(in, count, to(&Payload::b));
  unpack_column<uint64_t>(in, count, [&](std::size_t i, uint64_t word) {
    into[i].payload.time = time = time + unzigzag(word);
  });
  unpack_column<uint16_t>(in, count, to(&Payload::set));
  unpack_column<uint16_t>(in, count, to(&Payload::allocator));
  unpack_column<uint32_t>(in, count, to(&Payload::cores));
  unpack_column<uint32_t>(in, count, to(&Payload::operation));
  unpack_column<uint32_t>(in, count, to(&Payload::origin));
  return true;
}

}  // namespace ttmem::recording
