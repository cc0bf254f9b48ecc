// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Any bytes, cut anywhere, from several senders, as a stream of the original's protocol. Afterwards
// every total is the sum of what is live, and burying the senders leaves nothing.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "legacy/service.hpp"
#include "legacy/wire.hpp"

namespace {

using namespace ttmem::legacy;

class NoLog final : public Log {
 public:
  void event(std::string_view lines) override { check(lines); }
  void report(std::string_view lines) override { check(lines); }
  void error(std::string_view lines) override { check(lines); }

 private:
  static void check(std::string_view lines) {
    if (lines.empty() || lines.back() != '\n') std::abort();
  }
};

void check_totals(Service& service) {
  Tallies sums;
  service.for_each_client([&](Client& client) {
    client.holdings.for_each_buffer([&](const Place& place, const Buffer& buffer) {
      sums[place.device].bytes[buffer.kind] += buffer.size;
      ++sums[place.device].buffers;
    });
    client.holdings.for_each_cb(
        [&](const Place& place, const Cb& cb) { sums[place.device].cb_bytes += cb.size; });
    client.holdings.for_each_kernel([&](const Place& place, const Kernel& kernel) {
      sums[place.device].kernel_bytes[kernel_kind(kernel.type)] += kernel.size;
    });
  });
  for (const auto& [device, tally] : service.tallies()) {
    const Tally& sum = sums[device];
    if (tally.bytes != sum.bytes || tally.buffers != sum.buffers ||
        tally.cb_bytes != sum.cb_bytes || tally.kernel_bytes != sum.kernel_bytes) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::int32_t kFirstPid = 0x40000000;  // beyond every real one
  NoLog log;
  Service service({.directory = "", .write_segments = false, .most_entries = 64}, log);
  Framer framer;
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  // The first byte of each piece says its length and sender.
  while (!rest.empty()) {
    const auto head = static_cast<std::uint8_t>(rest[0]);
    rest = rest.subspan(1);
    const std::size_t count = std::min<std::size_t>(rest.size(), (head & 0x3Fu) * 8u + 1u);
    framer.feed(rest.first(count), kFirstPid + (head >> 7));
    rest = rest.subspan(count);
    if ((head & 0x40u) != 0) framer.silence();
    Request request;
    Framer::State state;
    while ((state = framer.next(request)) == Framer::State::kMessage) {
      if (Service::is_question(request.type)) {
        const std::string answer = service.answer(request, framer.form(), 0);
        const bool binary = request.type == Type::kQuery || request.type == Type::kDeviceInfoQuery;
        if (binary && answer.size() != bytes_of(framer.form())) std::abort();
      } else {
        service.apply(request, service.client(framer.sender()));
      }
    }
    check_totals(service);
    if (state == Framer::State::kBroken) break;
  }
  if (service.statistics().empty()) return 0;
  service.bury(kFirstPid);
  service.bury(kFirstPid + 1);
  for (const auto& [device, tally] : service.tallies()) {
    if (!tally.empty() || tally.device_bytes() != 0) std::abort();
  }
  return 0;
}
