// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "segment/reader_events.hpp"

#include <algorithm>
#include <cstring>

namespace ttmem::segment {

namespace {

// The oldest event that is surely not being overwritten while the head is `head`.
std::uint64_t oldest_safe(std::uint64_t head, std::uint64_t capacity) {
  const std::uint64_t margin = std::min<std::uint64_t>(kEventMargin, capacity / 4);
  const std::uint64_t kept = capacity - margin;
  return head >= kept ? head - kept + 1 : 1;
}

bool copy_records(const ReadOnlyFile& file, const Part& ring, std::uint64_t first,
                  std::vector<Event>& into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t index = (first + done) % ring.entries;
    const std::size_t count =
        std::min<std::size_t>(into.size() - done, static_cast<std::size_t>(ring.entries - index));
    if (!file.read(ring.at(index), into.data() + done, count * sizeof(Event))) return false;
    done += count;
  }
  return true;
}

}  // namespace

bool read_head(const ReadOnlyFile& file, std::uint64_t& head) {
  // A word that may change while it is copied: two equal reads are a value that stood there.
  std::uint64_t before = 0;
  if (!file.read(offsetof(Header, head), &before, sizeof before)) return false;
  for (std::uint32_t tries = 0; tries < kSettleTries; ++tries) {
    if (!file.read(offsetof(Header, head), &head, sizeof head)) return false;
    if (head == before) return true;
    before = head;
  }
  return true;
}

EventRun read_events(const ReadOnlyFile& file, const Part& ring, std::uint64_t from,
                     std::uint64_t to) {
  EventRun run;
  if (from == 0 || to < from) return run;
  std::uint64_t head = to;
  const std::uint64_t first = std::max(from, oldest_safe(head, ring.entries));
  if (first > to) return run;
  run.first = first;
  run.events.resize(to - first + 1);
  std::vector<Event> again(run.events.size());
  if (!copy_records(file, ring, first, run.events) || !copy_records(file, ring, first, again) ||
      !read_head(file, head) || head + 1 < to) {
    return {};
  }
  // Whatever the writer reached meanwhile is dropped, up to the last record that does not fit.
  std::size_t bad = 0;
  const std::uint64_t safe = oldest_safe(head, ring.entries);
  if (safe > first) bad = std::min<std::size_t>(safe - first, run.events.size());
  for (std::size_t i = run.events.size(); i > bad; --i) {
    const bool fits = run.events[i - 1].number == static_cast<std::uint32_t>(first + i - 1);
    if (!fits || std::memcmp(&run.events[i - 1], &again[i - 1], sizeof(Event)) != 0) {
      bad = i;
      break;
    }
  }
  run.events.erase(run.events.begin(), run.events.begin() + static_cast<std::ptrdiff_t>(bad));
  run.first = first + bad;
  run.complete = run.first == from && !run.events.empty();
  return run;
}

}  // namespace ttmem::segment
