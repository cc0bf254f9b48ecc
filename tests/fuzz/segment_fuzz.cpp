// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A file that anybody may have written, read as every command reads it: it is opened, followed
// while it changes, cut in half under the reader, and asked for everything. Nothing may crash, hang
// or take memory beyond what the file itself holds.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "collect/collector.hpp"
#include "segment/format.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace ttmem;

// One directory per process, with one file in it. Removed at exit.
struct Place {
  support::TemporaryDirectory directory;
  std::string file = directory / "ttmem-1-1-0000000000000001";
};

void write_at(int descriptor, std::size_t offset, const std::uint8_t* bytes, std::size_t size) {
  if (::pwrite(descriptor, bytes, size, static_cast<off_t>(offset)) < 0) std::abort();
}

void ask_everything(collect::Collector& collector) {
  std::size_t seen = 0;
  collector.holdings([&](const ledger::HoldingView& holding) { seen += holding.devices.size(); });
  for (const ledger::DeviceView& device : collector.snapshot().devices) {
    seen += collector.cores(device.id, true).size();
  }
  for (const ledger::ProcessView& process : collector.snapshot().processes) {
    for (const ledger::FailureView& failure : process.failures) {
      seen += static_cast<bool>(collector.failure_picture(process.key, failure.number)) ? 1u : 0u;
    }
  }
  seen += collector.programs().size() + collector.take_events().size();
  if (seen == ~std::size_t{0}) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  const int descriptor = ::open(place.file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) std::abort();
  write_at(descriptor, 0, data, size);
  collect::Options options;
  options.directories = {place.directory.path()};
  options.events = true;
  collect::Collector collector(options);
  collector.refresh();
  ask_everything(collector);

  // The words that change while a process runs, from the end of the input.
  constexpr std::size_t kChanging = offsetof(segment::Header, head);
  const std::size_t tail = std::min<std::size_t>(size, 64);
  write_at(descriptor, kChanging, data + size - tail, tail);
  collector.refresh();
  ask_everything(collector);

  if (::ftruncate(descriptor, static_cast<off_t>(size / 2)) != 0) std::abort();
  collector.refresh();
  ::close(descriptor);
  return 0;
}
