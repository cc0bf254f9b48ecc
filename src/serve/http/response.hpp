// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is answered over HTTP. Large bodies are shared by everybody who asked for the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttmem::serve::http {

// Through whose eyes the readers of a stream see: those of the daemon's own user, or of a viewer,
// by its number.
inline constexpr std::uint32_t kOwnUser = 0;

// What the reader of a stream asked for, and which messages it therefore gets.
struct StreamOptions {
  bool events = true;  // what happens, beside what changes
  bool brief = false;  // processes without what they hold on each device
  bool cores = false;  // how full the cores are, coarsely
  bool gzip = false;
  std::uint32_t audience = kOwnUser;
};

enum class Channel : std::uint8_t {
  kEverybody,
  kChanges,
  kEvents,
  kBriefChanges,
  kBriefEvents,
  kCores
};
inline constexpr std::size_t kChannels = 6;

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

using SharedText = std::shared_ptr<const std::string>;

// A text for readers of streams, and the same for those who take gzip; null while there are none.
struct StreamText {
  SharedText plain, packed;
  std::uint32_t audience = kOwnUser;  // who alone gets it
};

struct Response {
  unsigned status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  // The body is one after the other.
  std::string start;
  std::vector<SharedText> rest;  // none is null
  // The body is only the beginning: the connection goes on with what is published for such readers.
  std::optional<StreamOptions> stream;
  std::shared_ptr<void> reader;  // counts it among the readers (readers.hpp)

  std::size_t size() const;
};

// What the reader of a stream gets first, packed if it takes gzip.
struct FirstEvents {
  std::string start;
  std::vector<SharedText> rest;
  std::shared_ptr<void> reader;
};

// {"error":{"status":404,"message":"..."}}: `message` says what to do.
Response error(unsigned status, std::string_view message);
Response json(std::string text);

// Status line and headers, with the empty line at their end. A stream has no length and ends with
// its connection.
std::string head(const Response& response, bool keep_alive);

}  // namespace ttmem::serve::http
