// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The whole way from a stranger's file to what people see: a real segment in which the input
// replaces words, followed by a collector beside an honest one, and shown in every form. Nothing
// may crash, hang or take memory (tests/fuzz/run sets the limits), all sums hold, and the figures
// of the honest one stay.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../ledger/check_sums.cpp"  // one source a target
#include "collect/collector.hpp"
#include "collect/hostile_segment.hpp"
#include "support/temporary_directory.hpp"
#include "view/json.hpp"
#include "view/text.hpp"

namespace {

using namespace ttmem;

constexpr std::uint64_t kVictimChip = 0xBEEF, kStrangerChip = 0xABC;
constexpr std::size_t kPatchBytes = 11;  // 2 place, 1 width, 8 value

struct Place {
  support::TemporaryDirectory directory;
  support::Bytes honest = support::honest_segment(directory / "template", kStrangerChip);
  support::SegmentBuilder victim{directory / "ttmem-1-1-0000000000000001"};
  std::string file = directory / "ttmem-2-1-0000000000000002";

  Place() {
    victim.lock();
    victim.add_usual_device(kVictimChip);
    victim.put(0, support::buffer_payload(1, 64, 4096));
  }
};

void must(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

void patch(support::Bytes& bytes, std::span<const std::uint8_t> word) {
  const std::size_t at = (word[0] | word[1] << 8) % (bytes.size() - 8);
  std::memcpy(bytes.data() + at, word.data() + 3, std::size_t{1} << word[2] % 4);
}

void write(const std::string& path, const support::Bytes& bytes) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must(file >= 0 && ::pwrite(file, bytes.data(), bytes.size(), 0) > 0, "the file is written");
  ::close(file);
}

void show(const collect::Collector& collector) {
  const ledger::Snapshot& snapshot = collector.snapshot();
  const view::Style style;
  std::size_t length = view::snapshot_json(snapshot, view::JsonLayout::kCompact).size();
  length += view::status_text(snapshot, style).size();
  std::vector<ledger::HoldingView> holdings;
  collector.holdings([&](const ledger::HoldingView& each) {
    if (holdings.size() < 1000) holdings.push_back(each);
  });
  length += view::dump_text(holdings, snapshot.time, style).size();
  length += view::programs_text(collector.programs(), snapshot.time, style).size();
  for (const ledger::DeviceView& device : snapshot.devices) {
    length += collector.cores(device.id, true).size() + collector.banks(device.id).size();
  }
  must(length > 0, "something is shown");
}

void check(const collect::Collector& collector) {
  const ledger::Snapshot& snapshot = collector.snapshot();
  const std::string wrong = ledger::check_sums(snapshot);
  must(wrong.empty(), wrong);
  for (const ledger::ProcessView& process : snapshot.processes) {
    if (process.segment != "ttmem-1-1-0000000000000001") continue;
    must(process.alive && process.devices.size() == 1, "the victim lives");
    const auto taken = process.devices[0].figures.space(ledger::Space::kDram).taken;
    must(taken == 12 * 4096u, "the victim's figures stay");
    return;
  }
  must(false, "the victim is told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  const std::span<const std::uint8_t> input(data, size);
  const std::size_t patches = size / kPatchBytes;
  support::Bytes bytes = place.honest;
  collect::Options options;
  options.directories = {place.directory.path()};
  options.events = true;
  collect::Collector collector(options);
  // Half of the words before the first look, the others under the reader's eyes.
  std::size_t next = 0;
  for (const std::size_t until : {patches / 2, patches}) {
    for (; next < until; ++next) patch(bytes, input.subspan(next * kPatchBytes, kPatchBytes));
    write(place.file, bytes);
    collector.refresh();
    check(collector);
    show(collector);
    collector.take_events();
  }
  ::unlink(place.file.c_str());
  return 0;
}
