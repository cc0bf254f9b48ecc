// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the reader of a stream asked for, and which messages it therefore gets.
#pragma once

#include <cstdint>

namespace ttmem::serve::http {

struct StreamOptions {
  bool events = true;  // what happens, beside what changes
  bool brief = false;  // processes without what they hold on each device
  bool cores = false;  // how full the cores are, coarsely
  bool gzip = false;
};

enum class Channel : std::uint8_t {
  kEverybody,
  kChanges,
  kEvents,
  kBriefChanges,
  kBriefEvents,
  kCores
};

constexpr bool is_for(const StreamOptions& reader, Channel channel) {
  switch (channel) {
    case Channel::kEverybody:
      return true;
    case Channel::kChanges:
      return !reader.brief;
    case Channel::kEvents:
      return !reader.brief && reader.events;
    case Channel::kBriefChanges:
      return reader.brief;
    case Channel::kBriefEvents:
      return reader.brief && reader.events;
    case Channel::kCores:
      return reader.cores;
  }
  return false;
}

}  // namespace ttmem::serve::http
