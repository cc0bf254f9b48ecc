// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Small files below a root directory: /proc, /sys and /dev/shm of this machine, or of one that a
// test made up. Everything is bounded, nothing follows a link out of a file, nothing blocks, and a
// file that is gone or unreadable is simply not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttmem::collect {

class HostRoot {
 public:
  explicit HostRoot(std::string root) : root_(std::move(root)) {}

  // The start of a regular file.
  std::optional<std::string> read(const std::string& path, std::size_t most = 4096) const;
  // One line without its end, and the number it is.
  std::optional<std::string> line(const std::string& path) const;
  std::optional<std::int64_t> number(const std::string& path) const;
  std::vector<std::string> list(const std::string& directory, std::size_t most) const;
  // The last component of a link's target.
  std::optional<std::string> link_name(const std::string& path) const;
  std::string full(const std::string& path) const { return root_ + path; }

 private:
  std::string root_;
};

// A whole text as a number; nothing if it is anything else.
std::optional<std::uint64_t> decimal(std::string_view text);
std::optional<std::uint64_t> hexadecimal(std::string_view text);

}  // namespace ttmem::collect
