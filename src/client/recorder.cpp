// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "client/recorder.hpp"

#include <cerrno>
#include <cstring>

#include "client/errno_keeper.hpp"
#include "client/words.hpp"

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
  const Holding holding(book.store.gate);
  if (is_open()) return 0;
  if (const int error = book.store.open(options)) return error;
  if (!open_parts()) {
    book.store.abandon();
    return ENOMEM;
  }
  ready_.store(true, std::memory_order_release);
  return 0;
}

bool Recorder::open_parts() {
  book.figures.open(book.store);
  allocators.open(book, devices, buffers);
  return book.overflow.reserve(book.most_records() / 4) && book.interner.open(book.store) &&
         book.origins.open(book.store, book.interner) && interning.open(book) &&
         devices.open(book) && buffers.open(book) && programs.open(book, devices) &&
         workloads.open(book, devices, buffers, programs) &&
         traces.open(book, devices, programs, workloads) && rings.open(book, devices, workloads) &&
         failures.open(book, devices, programs);
}

void Recorder::close() {
  const ColdCall call(book.store);
  const Holding holding(book.store.lock);
  auto& header = book.store.header();
  if (header.ended != 0) return;
  header.ended_ticks = book.store.clock().now();
  constexpr auto kClosed = static_cast<std::uint32_t>(segment::Ended::kClosed);
  publish(header.ended, kClosed);
  book.store.note(segment::Note::kEnded, {.a = kClosed});
}

void Recorder::give_back() {
  ready_.store(false, std::memory_order_release);
  failures.give_back();
  rings.give_back();
  traces.give_back();
  workloads.give_back();
  programs.give_back();
  buffers.give_back();
  devices.give_back();
  interning.give_back();
  book.origins.give_back();
  book.interner.give_back();
  book.overflow.give_back();
  book.store.give_back();
}

void Recorder::disconnected() {
  const ColdCall call(book.store);
  const Holding holding(book.store.lock);
  set_word(book.store.header().flags, book.store.header().flags | segment::kHeaderDisconnected);
}

void Recorder::process_described(const ttmem_process_info& info) {
  const ColdCall call(book.store);
  const auto intern = [&](const char* text) {
    return text == nullptr ? 0
                           : book.interner.intern(segment::BlobKind::kString, text,
                                                  strnlen(text, segment::kMaxBlobBytes));
  };
  const std::uint32_t names = intern(info.hook_names);
  const std::uint32_t reason = intern(info.lines_reason);
  const Holding holding(book.store.lock);
  auto& header = book.store.header();
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
  set_word(header.flags, flags);
  book.store.changed();
}

void Recorder::device_closed(ttmem_device_t device) {
  const ColdCall call(book.store);
  if (!devices.knows(device)) {
    book.report(TTMEM_ANOMALY_UNKNOWN_ALLOCATOR, device);
    return;
  }
  traces.end_on(device);
  programs.unload_on(device);
  devices.closed(device);
}

void Recorder::anomaly(std::uint32_t kind) {
  if (kind >= segment::kAnomalies) kind = TTMEM_ANOMALY_BAD_VALUE;
  book.report(kind, 0);
}

int Recorder::self(ttmem_device_t device, std::uint32_t figure, ttmem_figures* out) {
  if (!devices.knows(device) || figure >= segment::kFigures) return ENOENT;
  book.figures.read(device, figure, out);
  return 0;
}

std::uint32_t Recorder::watermark_open(ttmem_string_t name) {
  const ColdCall call(book.store);
  const std::uint32_t number = book.figures.open_watermark(name);
  if (number == 0) book.report(TTMEM_ANOMALY_LIMIT, segment::kMaxWatermarks);
  return number;
}

int Recorder::watermark_read(std::uint32_t number, ttmem_device_t device, std::uint32_t figure,
                             ttmem_figures* out) {
  if (!devices.knows(device) || figure >= segment::kFigures) return ENOENT;
  return book.figures.read_watermark(number, device, figure, out) ? 0 : ENOENT;
}

void Recorder::watermark_close(std::uint32_t number) {
  const ColdCall call(book.store);
  book.figures.close_watermark(number);
}

}  // namespace ttmem::client
