// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/recorder.hpp"

#include <cerrno>
#include <cstring>

#include "client/atomic_words.hpp"
#include "client/errno_keeper.hpp"
#include "client/job.hpp"

namespace ttmem::client {
namespace {

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  if (from == nullptr) return;
  const std::size_t length = strnlen(from, N - 1);
  std::memset(to, 0, N);
  std::memcpy(to, from, length);
}

}  // namespace

int Recorder::open(const Options& options) {
  const ErrnoKeeper keeper;
  const LockGuard guard(writer.store.gate);
  if (is_open()) return 0;
  if (const int error = writer.store.open(options)) return error;
  if (!open_parts()) {
    writer.store.abandon();
    return ENOMEM;
  }
  if (options.subject == nullptr) tell_job();
  // Last: whoever sees an open recorder sees one whose parts are all ready.
  ready_.store(true, std::memory_order_release);
  return 0;
}

void Recorder::tell_job() {
  char text[kMaxJobBytes];
  const std::size_t bytes = job_of_environment(text, sizeof text);
  if (bytes == 0) return;
  writer.store.header().job = writer.interner.intern(segment::BlobKind::kString, text, bytes);
  writer.store.changed();
}

bool Recorder::open_parts() {
  writer.figures.open(writer.store);
  writer.peaks.open(writer.store);
  allocators.open(writer, devices, buffers);
  return writer.overflow.reserve(writer.most_records() / 4) && writer.interner.open(writer.store) &&
         writer.origins.open(writer.store, writer.interner) && interning.open(writer) &&
         devices.open(writer) && buffers.open(writer) && programs.open(writer, devices) &&
         workloads.open(writer, devices, buffers, programs) &&
         traces.open(writer, devices, programs, workloads) &&
         rings.open(writer, devices, workloads) && failures.open(writer, devices, programs);
}

void Recorder::close() {
  const ColdCall call(writer.store);
  const LockGuard guard(writer.store.lock);
  auto& header = writer.store.header();
  // A program may close itself, and its destructor comes by once more.
  if (header.ended != 0) return;
  header.ended_ticks = writer.store.clock().now();
  constexpr auto kClosed = static_cast<std::uint32_t>(segment::Ended::kClosed);
  publish(header.ended, kClosed);
  writer.store.note(segment::Note::kEnded, {.a = kClosed});
}

void Recorder::give_back() {
  ready_.store(false, std::memory_order_release);
  // In the reverse order of open_parts(): each part may use those that were opened before it.
  failures.give_back();
  rings.give_back();
  traces.give_back();
  workloads.give_back();
  programs.give_back();
  buffers.give_back();
  devices.give_back();
  interning.give_back();
  writer.origins.give_back();
  writer.interner.give_back();
  writer.overflow.give_back();
  writer.store.give_back();
}

void Recorder::disconnected() {
  const ColdCall call(writer.store);
  const LockGuard guard(writer.store.lock);
  set_word(writer.store.header().flags, writer.store.header().flags | segment::kHeaderDisconnected);
}

void Recorder::process_described(const ttmem_process_info& info) {
  const ColdCall call(writer.store);
  const auto intern = [&](const char* text) {
    return text == nullptr ? 0
                           : writer.interner.intern(segment::BlobKind::kString, text,
                                                    strnlen(text, segment::kMaxBlobBytes));
  };
  // Before the lock is taken: interning may grow the file, and nothing that could wait happens
  // under it.
  const std::uint32_t names = intern(info.hook_names);
  const std::uint32_t reason = intern(info.lines_reason);
  const LockGuard guard(writer.store.lock);
  auto& header = writer.store.header();
  header.source = info.source;
  copy_text(header.runtime_version, info.runtime_version);
  copy_text(header.runtime_library, info.runtime_library);
  if (names != 0) header.hook_names = names;
  header.lines = info.lines;
  header.lines_reason = reason;
  for (int i = 0; i < 2; ++i) {
    header.hooks_wanted[i] = info.hooks_wanted[i];
    header.hooks_bound[i] = info.hooks_bound[i];
  }
  std::uint32_t flags = header.flags;
  if (info.attached_late != 0) flags |= segment::kHeaderAttachedLate;
  if (info.stand_in_kernels != 0) flags |= segment::kHeaderStandInKernels;
  flags &= ~segment::kHeaderUnreached;
  if (info.unreached != 0) flags |= segment::kHeaderUnreached;
  set_word(header.flags, flags);
  writer.store.changed();
}

void Recorder::device_closed(ttmem_device_t device) {
  const ColdCall call(writer.store);
  if (!devices.knows(device)) {
    writer.report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, device);
    return;
  }
  // Traces first: they hold programs that their owner has released already.
  traces.end_on(device);
  programs.unload_on(device);
  devices.closed(device);
}

void Recorder::next_step() {
  writer.note(segment::Note::kStep, {.a = steps_.fetch_add(1, std::memory_order_relaxed) + 1});
}

void Recorder::anomaly(std::uint32_t kind, std::uint64_t id, ttmem_set_t set) {
  if (kind >= segment::kAnomalies) kind = TTMEM_ANOMALY_BAD_VALUE;
  writer.report(kind, id, devices.list(set) == nullptr ? ttmem_set_t{0} : set);
}

int Recorder::self(ttmem_device_t device, std::uint32_t figure, ttmem_figures* out) {
  if (!devices.knows(device) || figure >= segment::kFigures) return ENOENT;
  writer.figures.read(device, figure, out);
  return 0;
}

std::uint32_t Recorder::watermark_open(ttmem_string_t name) {
  const ColdCall call(writer.store);
  const std::uint32_t number = writer.figures.open_watermark(name);
  if (number == 0) writer.report(TTMEM_ANOMALY_LIMIT, segment::kMaxWatermarks);
  return number;
}

int Recorder::watermark_read(std::uint32_t number, ttmem_device_t device, std::uint32_t figure,
                             ttmem_figures* out) {
  if (!devices.knows(device) || figure >= segment::kFigures) return ENOENT;
  return writer.figures.read_watermark(number, device, figure, out) ? 0 : ENOENT;
}

void Recorder::watermark_close(std::uint32_t number) {
  const ColdCall call(writer.store);
  writer.figures.close_watermark(number);
}

std::uint32_t Recorder::watermark_of_region(ttmem_string_t name) {
  const ColdCall call(writer.store);
  return writer.figures.open_watermark(name);
}

std::uint32_t Recorder::leave_watermark(std::uint32_t number, std::uint64_t* figures,
                                        std::uint32_t room) {
  const ColdCall call(writer.store);
  const std::uint32_t known = writer.figures.read_watermark(number, figures, room);
  if (known <= room) writer.figures.close_watermark(number);
  return known;
}

}  // namespace ttmem::client
