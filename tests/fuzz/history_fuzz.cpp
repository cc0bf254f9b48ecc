// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Any bytes as the history file of a daemon that starts: refused, moved aside or used; then it
// records, answers and closes. Inputs are changes to a good file, so that SQLite's own checks are
// passed often: each 8 bytes are a place (4), a length and the bytes to put there.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "serve/history/history.hpp"
#include "serve/history/query.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace ttmem;
using serve::history::History;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kStart = 1'800'000'000 * kSecond;

struct Place {
  support::TemporaryDirectory folder;
  std::string path = folder / "history.db";
};

ledger::Snapshot snapshot(std::uint64_t taken) {
  ledger::Snapshot snapshot;
  ledger::DeviceView device;
  device.unique_id = 0xA1;
  device.figures.space(ledger::Space::kDram).taken = taken;
  snapshot.devices = {device};
  ledger::ProcessView process;
  process.pid = 10;
  process.alive = true;
  ledger::ProcessDeviceView on;
  on.unique_id = 0xA1;
  on.figures = device.figures;
  on.figures.space(ledger::Space::kDram).peak = taken;
  process.devices = {on};
  snapshot.processes = {process};
  return snapshot;
}

void use(History& history, std::uint64_t from, std::uint64_t seconds) {
  for (std::uint64_t i = 0; i < seconds; ++i) {
    const std::uint64_t now = from + i * kSecond;
    history.record(snapshot(i), now);
    history.tick(now);
  }
}

std::string good_file() {
  Place place;
  auto history = History::open_or_memory(place.path, {}, kStart).history;
  use(*history, kStart, 40);
  history->close(kStart + 41 * kSecond);
  history.reset();
  std::ifstream file(place.path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void change(std::string& bytes, const std::uint8_t* data, std::size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    std::uint32_t at = 0;
    std::memcpy(&at, data, sizeof at);
    const std::size_t length = 1 + data[4] % 3u;
    at %= static_cast<std::uint32_t>(bytes.size() - length);
    std::memcpy(bytes.data() + at, data + 5, length);
  }
}

void ask(History& history, std::uint64_t now) {
  for (const auto& metric : serve::history::metrics()) {
    for (const std::uint64_t back : {60ull, 86'400ull, 80ull * 86'400}) {
      serve::history::Query query;
      query.metric = metric.name;
      query.from = now - back * kSecond;
      query.to = now;
      if (const auto answer = history.query(query, now)) {
        for (const auto& series : answer->series) {
          if (series.points.size() > 11'000) std::abort();
        }
        (void)serve::history::answer_json(*answer);
      }
    }
  }
  if (const auto runs = history.runs({}, now)) (void)serve::history::runs_json(*runs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string good = good_file();
  static const Place place;
  std::string bytes = good;
  if (size > 0 && data[0] % 16 == 0) {
    bytes.assign(reinterpret_cast<const char*>(data), size);  // anything at all
  } else {
    change(bytes, data, size);
  }
  for (const auto& left : std::filesystem::directory_iterator(place.folder.path())) {
    std::filesystem::remove(left.path());
  }
  std::ofstream(place.path, std::ios::binary) << bytes;
  const std::uint64_t now = kStart + 60 * kSecond;
  const auto opened = History::open_or_memory(place.path, {}, now);
  if (!opened.history) std::abort();
  ask(*opened.history, now);
  use(*opened.history, now, 20);
  ask(*opened.history, now + 20 * kSecond);
  opened.history->close(now + 20 * kSecond);
  // What was there is there still, under its own name or another.
  if (std::filesystem::is_empty(place.folder.path())) std::abort();
  return 0;
}
