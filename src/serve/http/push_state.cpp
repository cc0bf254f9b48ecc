// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "serve/http/push_state.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/foreign_file.hpp"
#include "view/json_read_values.hpp"

namespace ttmem::serve::http {
namespace {

using view::json::Json;

constexpr const char* kPushState = "/push.json";

Json read_push_state(const std::string& path) {
  const ForeignFile file = open_foreign(AT_FDCWD, path.c_str());
  if (!file.descriptor || (file.facts.st_uid != 0 && file.facts.st_uid != ::geteuid())) {
    return nullptr;
  }
  std::array<char, 4096> text{};
  const ssize_t count = ::pread(file.descriptor.get(), text.data(), text.size(), 0);
  if (count <= 0) return nullptr;
  const Json told = Json::parse(text.data(), text.data() + count, nullptr, false);
  if (!told.is_object()) return nullptr;
  using view::json::number;
  using view::json::or_null;
  using view::json::string;
  using view::json::text_or_null;
  return {{"to", text_or_null(string(told, "to"))},
          {"sent", or_null(number<std::uint64_t>(told, "sent"))},
          {"failed", or_null(number<std::uint64_t>(told, "failed"))},
          {"refused_points", or_null(number<std::uint64_t>(told, "refused_points"))},
          {"last_sent_ns", or_null(number<std::uint64_t>(told, "last_sent_ns"))},
          {"problem", text_or_null(string(told, "problem"))}};
}

}  // namespace

Json push_state(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    Json state = read_push_state(directory + kPushState);
    if (!state.is_null()) return state;
  }
  return nullptr;
}

}  // namespace ttmem::serve::http
