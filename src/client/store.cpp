// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Making the file, growing it, keeping it ours; and what is written that is no slot. What runs at
// every allocation is inline in the header.
#include "client/store.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "client/atomic_words.hpp"
#include "client/identity.hpp"

namespace ttmem::client {

using segment::Header;
using segment::Kind;
using segment::kNoSlot;
using segment::Meta;
using segment::Payload;
using segment::SectionKind;
using segment::WriterFile;

namespace {

constexpr std::uint64_t kStepSlots = segment::kGrowthBytes / sizeof(segment::Slot);
constexpr std::uint32_t kColdCallsBetweenChecks = 64;
constexpr std::uint32_t kRefusalsBetweenTries = 1024;

struct Room {
  SectionKind kind;
  std::uint32_t entry_bytes;
  std::uint64_t offset;
  std::uint64_t max_bytes;
};

void fill_sections(segment::Section* sections, std::uint64_t events, std::uint64_t max_slots) {
  using namespace segment;
  const Room rooms[kSections] = {
      {SectionKind::kDevices, sizeof(Device), kDevicesOffset, kMaxDevices * sizeof(Device)},
      {SectionKind::kDeviceSets, sizeof(DeviceSet), kDeviceSetsOffset,
       kMaxDeviceSets * sizeof(DeviceSet)},
      {SectionKind::kAllocators, sizeof(Allocator), kAllocatorsOffset,
       kMaxAllocators * sizeof(Allocator)},
      {SectionKind::kRingManagers, sizeof(RingManager), kRingManagersOffset,
       kMaxRingManagers * sizeof(RingManager)},
      {SectionKind::kCounters, sizeof(Counters), kCountersOffset, sizeof(Counters)},
      {SectionKind::kWatermarks, sizeof(Watermark), kWatermarksOffset,
       kMaxWatermarks * sizeof(Watermark)},
      {SectionKind::kFailures, sizeof(Failure), kFailuresOffset, kMaxFailures * sizeof(Failure)},
      {SectionKind::kInterned, sizeof(Blob), kInternedOffset, kMaxInternedBytes},
      {SectionKind::kEvents, sizeof(Event), kEventsOffset, events * sizeof(Event)},
      {SectionKind::kTable, sizeof(Slot), kTableOffset, max_slots * sizeof(Slot)},
      {SectionKind::kPeaks, sizeof(segment::Peaks), kPeaksOffset, sizeof(segment::Peaks)},
      {SectionKind::kLists, sizeof(Slot), kListsOffset, kMaxListSlots * sizeof(Slot)},
  };
  for (std::uint32_t i = 0; i < kSections; ++i) {
    sections[i] = {static_cast<std::uint32_t>(rooms[i].kind), rooms[i].entry_bytes, rooms[i].offset,
                   rooms[i].max_bytes};
  }
}

// A ring that is larger than usual takes no more than a quarter of the room that is left.
int prepare_ring(WriterFile& file, std::uint64_t events) {
  for (; events > segment::kEventCapacity; events /= 2) {
    const std::uint64_t bytes = events * sizeof(segment::Event);
    if (file.prepare(SectionKind::kEvents, bytes, 3 * bytes) == 0) return 0;
  }
  return file.prepare(SectionKind::kEvents, segment::kEventCapacity * sizeof(segment::Event));
}

}  // namespace

int Store::open(const Options& options) {
  clock_.start();
  if (options.directory != nullptr) {
    if (std::strlen(options.directory) >= sizeof directory_) return ENAMETOOLONG;
    std::strcpy(directory_, options.directory);
  }
  const segment::Identity writer = identity_of(getpid());
  const segment::Identity& subject = options.subject != nullptr ? *options.subject : writer;
  pid_ = subject.pid;
  start_ = subject.start_ticks;
  descriptor_note_ = options.descriptor_note;
  if (descriptor_note_ != nullptr) close_inherited(*descriptor_note_);
  WriterFile file;
  int error = make_file(segment::Choice::kFirst, options.events, file);
  if (segment::is_full(error)) error = make_file(segment::Choice::kLast, options.events, file);
  if (error == 0 && (!links_.reserve(file.max_slots()) || !links_.prepare(kStepSlots))) {
    error = ENOMEM;
  }
  if (error != 0) {
    file.discard();
    links_.give_back();
    return error;
  }
  file_ = file;
  instance_ = file_.nonce();
  ready_slots_ = kStepSlots;
  ring_mask_ = file_.ready(SectionKind::kEvents) / sizeof(segment::Event) - 1;
  low_water_ = kStepSlots / 2;
  free_[0] = free_[1] = spare_ = segment::kNoSlot;
  remember_descriptor();
  Options told = options;
  told.subject = &subject;
  write_header(told, writer);
  base_.store(file_.base(), std::memory_order_release);
  return 0;
}

// With all that a recording begins with, or not at all.
int Store::make_file(segment::Choice choice, std::uint64_t events, WriterFile& file) const {
  int error = file.create(directory_, pid_, start_, choice);
  if (error == 0) error = file.prepare(SectionKind::kCounters, sizeof(segment::Counters));
  if (error == 0) error = prepare_ring(file, events);
  if (error == 0) error = file.prepare(SectionKind::kTable, segment::kGrowthBytes);
  if (error != 0) file.discard();
  return error;
}

void Store::abandon() {
  base_.store(nullptr, std::memory_order_relaxed);
  file_.discard();
  links_.give_back();
  remember_descriptor();
}

void Store::write_header(const Options& options, const segment::Identity& writer) {
  auto& header = *reinterpret_cast<Header*>(file_.base());
  header.major = segment::kMajorVersion;
  header.minor = segment::kMinorVersion;
  header.header_bytes = sizeof(Header);
  header.nonce = file_.nonce();
  fill_sections(header.sections, ring_mask_ + 1, file_.max_slots());
  header.subject = *options.subject;
  header.writer = writer;
  header.clock = clock_.anchor();
  header.created_ticks = header.clock.ticks;
  header.source = options.source;
  std::memcpy(header.ttmem_version, TTMEM_VERSION, sizeof TTMEM_VERSION);
  if (!file_.on_tmpfs()) header.flags |= segment::kHeaderNotTmpfs;
  std::uint64_t magic;
  std::memcpy(&magic, segment::kMagic, sizeof magic);
  publish(*reinterpret_cast<std::uint64_t*>(header.magic), magic);
}

void Store::remember_descriptor() {
  if (descriptor_note_ == nullptr) return;
  *descriptor_note_ = {file_.descriptor(), file_.device(), file_.inode()};
}

bool Store::grow() {
  {
    const LockGuard guard(lock);
    if (free_slots() >= kStepSlots / 2) return true;
    if (low_water_ == 0 && ++refused_ % kRefusalsBetweenTries != 0) return false;
  }
  maintain();
  const std::uint64_t slots = ready_slots_ + kStepSlots;
  const bool grown = slots <= file_.max_slots() && links_.prepare(slots) &&
                     file_.prepare(SectionKind::kTable, slots * sizeof(segment::Slot)) == 0;
  const LockGuard guard(lock);
  low_water_ = grown ? kStepSlots / 2 : 0;
  if (grown) {
    ready_slots_ = slots;
    ++counters().growths;
    set_word(header().flags, header().flags & ~segment::kHeaderGrowthStopped);
  } else {
    set_word(header().flags, header().flags | segment::kHeaderGrowthStopped);
  }
  return grown;
}

void Store::give_back() {
  base_.store(nullptr, std::memory_order_release);
  file_.let_go();
  links_.give_back();
}

bool Store::prepare(SectionKind section, std::uint64_t bytes, std::uint64_t spare) {
  if (file_.ready(section) >= bytes) return true;
  maintain();
  return file_.prepare(section, bytes, spare) == 0;
}

void Store::maintain_now_and_then() {
  if (++cold_calls_ % kColdCallsBetweenChecks == 0) maintain();
}

void Store::maintain() {
  const auto health = file_.check();
  if (health == WriterFile::Health::kGone) re_create();
  if (health != WriterFile::Health::kGood) remember_descriptor();
}

int Store::make_again(segment::Choice choice, WriterFile& fresh) const {
  if (const int error = fresh.create(directory_, pid_, start_, choice)) return error;
  int error = fresh.max_slots() >= file_.max_slots() ? 0 : ENOMEM;
  for (std::uint32_t kind = 0; kind <= segment::kSections && error == 0; ++kind) {
    const auto section = static_cast<SectionKind>(kind);
    error = fresh.prepare(section, file_.ready(section));
  }
  if (error != 0) fresh.discard();
  return error;
}

// The same bytes in a new file. The old mapping stays: a dispatch may be storing into it.
void Store::re_create() {
  WriterFile fresh;
  int error = make_again(segment::Choice::kFirst, fresh);
  if (segment::is_full(error)) error = make_again(segment::Choice::kLast, fresh);
  if (error != 0) return;
  const int abandoned = file_.descriptor();
  {
    const LockGuard guard(lock);
    copy_to(fresh);
    file_ = fresh;
    base_.store(file_.base(), std::memory_order_release);
  }
  if (abandoned >= 0) ::close(abandoned);
}

void Store::copy_to(WriterFile& fresh) {
  constexpr std::size_t kAfterMagic = sizeof segment::kMagic;
  std::memcpy(fresh.base() + kAfterMagic, file_.base() + kAfterMagic, sizeof(Header) - kAfterMagic);
  auto& header = *reinterpret_cast<Header*>(fresh.base());
  header.nonce = fresh.nonce();
  header.flags |= segment::kHeaderRecreated;
  for (const auto& section : header.sections) {
    std::memcpy(fresh.base() + section.offset, file_.base() + section.offset,
                file_.ready(static_cast<SectionKind>(section.kind)));
  }
  std::memcpy(header.magic, segment::kMagic, sizeof header.magic);
}

void close_inherited(DescriptorNote& note) {
  struct stat status;
  if (note.fd >= 0 && fstat(note.fd, &status) == 0 && status.st_dev == note.device &&
      status.st_ino == note.inode) {
    close(note.fd);
  }
  note = {};
}

void Store::note(segment::Note note, Payload payload) {
  payload.meta |= Meta::pack(Kind::kNote, false, 0, 0, 0, static_cast<std::uint64_t>(note));
  if (payload.time == 0) payload.time = clock_.now();
  const std::uint64_t number = write_event(base(), kNoSlot, words_of(payload));
  count_event(counters(), payload.meta);
  publish(header().head, number);
}

void Store::count_anomaly(std::uint32_t kind) {
  if (!is_open() || kind >= segment::kAnomalies) return;
  add_to(counters().anomalies[kind], 1);
  changed();
}

void Store::count_unrecorded() {
  if (!is_open()) return;
  add_to(counters().unrecorded, 1);
  changed();
}

void Store::count_odd_stack() {
  add_to(counters().odd_stacks, 1);
  changed();
}

}  // namespace ttmem::client
