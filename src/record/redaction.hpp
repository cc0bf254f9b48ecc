// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Takes what names people and places out of what is recorded: users, hosts, commands, jobs and
// paths become numbers, the same one for the same text throughout a recording. Figures, operations,
// functions and line numbers stay. Texts inside of a segment keep their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "recording/format.hpp"
#include "segment/format.hpp"

namespace ttmem::record {

class Redaction {
 public:
  void apply(recording::FileInfo& info);
  void apply(recording::ProcessInfo& info);
  void apply(segment::Header& header);
  void apply(segment::Failure& failure);
  // Whole blobs of the interned data, in place.
  void apply_to_blobs(std::span<std::byte> blobs);

 private:
  // 1, 2, 3, ... in the order in which they were seen.
  std::uint32_t number(std::string_view kind, std::string_view text);
  std::string name(std::string_view kind, std::string_view text);
  void in_place(std::string_view kind, std::span<char> text);
  void values_in_place(std::span<char> text);
  void paths_in_text(char* text, std::size_t bytes);

  std::map<std::string, std::map<std::string, std::uint32_t, std::less<>>, std::less<>> known_;
};

}  // namespace ttmem::record
