// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A recording whose blocks hold anything, with checksums that are right: so the fuzzer meets what
// stands behind them. The input is a list of blocks: kind, process, events (u16 each), count (u8),
// length of the body (u16), body. Opened, gone through from start to end, and back.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "collect/collector.hpp"
#include "collect/replay.hpp"
#include "recording/file_writer.hpp"

namespace {

using namespace ttmem;  // NOLINT(google-build-using-namespace)

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  std::uint16_t word() {
    const auto low = byte();
    return static_cast<std::uint16_t>(low | (byte() << 8));
  }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::span<const std::byte> bytes(std::size_t size) {
    const auto taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return std::as_bytes(taken);
  }

 private:
  std::span<const std::uint8_t> rest_;
};

bool write(const std::string& path, Input input) {
  auto file = recording::FileWriter::create(path, true, {}, {1, 1, 1});
  if (!file) return false;
  for (std::uint64_t number = 2; !input.empty(); ++number) {
    recording::BlockHeader header{};
    header.kind = input.byte();
    header.process = input.byte() % 3u;
    header.first_event = input.word();
    header.last_event = input.word();
    header.count = input.byte();
    header.read = {number * 1000, number * 1000, number * 1'000'000};
    if (file->add(header, input.bytes(input.word()))) return false;
  }
  return !file->finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string kPath = "/tmp/ttmem-recording-fuzz-" + std::to_string(::getpid());
  if (write(kPath, {data, size})) {
    collect::Options options;
    options.events = true;
    if (auto collector = collect::Collector::open_recording(kPath, options)) {
      collector->refresh();
      collect::Replay& replay = *collector->replay();
      replay.seek(replay.first());
      do {
        collector->refresh();
        collector->take_events();
      } while (replay.step());
      collector->holdings([](const ledger::HoldingView&) {});
      replay.seek((replay.first() + replay.last()) / 2);
      collector->refresh();
    }
  }
  ::unlink(kPath.c_str());
  return 0;
}
