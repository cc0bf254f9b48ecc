// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "recording/file_reader.hpp"

#include <fcntl.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/foreign_file.hpp"
#include "recording/checksum.hpp"

namespace ttmem::recording {

namespace {

constexpr std::uint32_t kMaxFrameBytes = 4096;  // of a header that a later minor made longer

// What a header says must be possible before it is asked for anything.
bool is_sound(const BlockHeader& header) {
  return header.frame_magic == kFrameMagic &&
         std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 &&
         header.frame_bytes >= sizeof header - 8 && header.frame_bytes <= kMaxFrameBytes &&
         header.checksum == checksum(bytes_of(header).first(offsetof(BlockHeader, checksum))) &&
         header.plain_bytes <= kMaxPlainBytes &&
         header.packed_bytes <= ZSTD_compressBound(kMaxPlainBytes) &&
         header.process <= kMaxProcesses;
}

Error broken(const std::string& what) {
  return {ErrorCode::kCorrupt, fmt::format("a block is broken ({})", what)};
}

}  // namespace

Result<FileReader> FileReader::open(const std::string& path) {
  ForeignFile foreign = open_foreign(AT_FDCWD, path.c_str());
  if (foreign.error == kNotRegular) {
    return Error{ErrorCode::kWrongKind, path + ": it is not a regular file"};
  }
  if (foreign.error != 0) {
    const auto code = foreign.error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kSystem;
    const char* why = foreign.error == ELOOP ? "it is a symbolic link, which is never followed"
                                             : std::strerror(foreign.error);
    return Error{code, fmt::format("{}: {}", path, why)};
  }
  FileReader reader(std::move(foreign.descriptor), path,
                    static_cast<std::uint64_t>(foreign.facts.st_size));
  BlockHeader first;
  if (!reader.read_header(0, first)) {
    return Error{ErrorCode::kWrongKind, path + ": this is no recording of ttmem"};
  }
  if (first.major != kMajorVersion) {
    return Error{ErrorCode::kWrongVersion,
                 fmt::format("{}: a recording of version {}, which this ttmem cannot read: take a "
                             "newer one",
                             path, first.major)};
  }
  if (!reader.read_index()) reader.walk();
  const Error no_beginning{ErrorCode::kCorrupt, path + ": its first block is broken"};
  if (reader.blocks_.empty() || kind_of(reader.blocks_.front()) != BlockKind::kFile) {
    return no_beginning;
  }
  const auto body = reader.body(reader.blocks_.front());
  if (!body) return no_beginning;
  reader.info_ = record_in<FileInfo>(*body);
  return reader;
}

Result<FileReader> FileReader::again() const {
  FileDescriptor file(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  if (!file) return Error{ErrorCode::kSystem, fmt::format("{}: {}", path_, std::strerror(errno))};
  FileReader reader(std::move(file), path_, bytes_);
  reader.info_ = info_;
  reader.blocks_ = blocks_;
  reader.ended_ = ended_;
  reader.broken_bytes_ = broken_bytes_;
  return reader;
}

bool FileReader::read(std::uint64_t offset, void* into, std::size_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset) return false;
  return read_all(file_.get(), offset, into, bytes);
}

bool FileReader::read_header(std::uint64_t offset, BlockHeader& header) const {
  return read(offset, &header, sizeof header) && is_sound(header);
}

bool FileReader::read_index() {
  Trailer trailer;
  if (bytes_ < sizeof trailer || !read(bytes_ - sizeof trailer, &trailer, sizeof trailer) ||
      std::memcmp(trailer.magic, kEndMagic, sizeof kEndMagic) != 0 ||
      trailer.checksum != checksum(bytes_of(trailer).first(offsetof(Trailer, checksum)))) {
    return false;
  }
  IndexEntry index{trailer.index_offset, {}};
  if (!read_header(index.offset, index.header) || kind_of(index) != BlockKind::kIndex) return false;
  const auto entries = body(index);
  if (!entries || entries->empty() || entries->size() % sizeof(IndexEntry) != 0) return false;
  blocks_.resize(entries->size() / sizeof(IndexEntry));
  std::memcpy(blocks_.data(), entries->data(), entries->size());
  std::uint64_t end = 0;
  for (const IndexEntry& block : blocks_) {
    if (block.offset != end || !is_sound(block.header) || end_of(block) > index.offset) {
      blocks_.clear();
      return false;
    }
    end = end_of(block);
  }
  ended_ = true;
  return true;
}

void FileReader::walk() {
  std::uint64_t at = 0;
  while (at < bytes_ && blocks_.size() < kMaxBlocks) {
    IndexEntry block{at, {}};
    if (!read_header(at, block.header) || end_of(block) > bytes_) {
      const std::uint64_t next = find_next(at + 1);
      broken_bytes_ += next - at;
      at = next;
      continue;
    }
    if (kind_of(block) != BlockKind::kIndex) blocks_.push_back(block);
    at = end_of(block);
  }
}

// Where the next header stands that makes sense; the end of the file if none does.
std::uint64_t FileReader::find_next(std::uint64_t from) const {
  constexpr std::size_t kChunk = 1 << 16;
  constexpr std::size_t kMark = offsetof(BlockHeader, magic) + sizeof kMagic;
  Bytes chunk(kChunk);
  while (from + sizeof(BlockHeader) <= bytes_) {
    const std::size_t size = std::min<std::uint64_t>(kChunk, bytes_ - from);
    if (!read(from, chunk.data(), size)) break;
    for (std::size_t i = 0; i + kMark <= size; ++i) {
      if (std::memcmp(chunk.data() + i + kMark - sizeof kMagic, kMagic, sizeof kMagic) != 0)
        continue;
      BlockHeader header;
      if (read_header(from + i, header) && end_of({from + i, header}) <= bytes_) return from + i;
    }
    if (size < kChunk) break;
    from += size - kMark + 1;
  }
  return bytes_;
}

Result<Bytes> FileReader::body(const IndexEntry& block) const {
  Bytes packed(block.header.packed_bytes);
  if (!read(block.offset + 8 + block.header.frame_bytes, packed.data(), packed.size())) {
    return broken("the file ends in it");
  }
  if (checksum(packed) != block.header.body_checksum) return broken("its checksum");
  Bytes plain(block.header.plain_bytes);
  const std::size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != plain.size()) return broken("its contents");
  return plain;
}

Result<EventsBody> FileReader::events(const IndexEntry& block) const {
  auto plain = body(block);
  if (!plain) return plain.error();
  EventsBody events;
  events.plain = std::move(*plain);
  std::span<const std::byte> rest(events.plain);
  EventsHead head;
  if (rest.size() < sizeof head) return broken("it is too short");
  std::memcpy(&head, rest.data(), sizeof head);
  rest = rest.subspan(sizeof head);
  if (head.sample_bytes > rest.size()) return broken("its samples");
  std::span<const std::byte> samples = rest.first(head.sample_bytes);
  while (!samples.empty()) {
    SampleHead sample;
    if (samples.size() < sizeof sample) return broken("its samples");
    std::memcpy(&sample, samples.data(), sizeof sample);
    samples = samples.subspan(sizeof sample);
    if (sample.bytes > samples.size()) return broken("its samples");
    events.samples.push_back(
        {sample.after, sample.read, (sample.flags & kNeeded) != 0, samples.first(sample.bytes)});
    samples = samples.subspan(sample.bytes);
  }
  if (block.header.count > kMaxBlockEvents ||
      !unpack_columns(rest.subspan(head.sample_bytes), block.header.count, events.events)) {
    return broken("its events");
  }
  return events;
}

}  // namespace ttmem::recording
