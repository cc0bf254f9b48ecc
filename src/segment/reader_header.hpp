// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The header, checked as what a stranger wrote. Offsets come from its section table, so that a
// later minor version may move and lengthen sections; a section that overlaps another, or has
// entries that are shorter than ours, is refused.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "segment/format.hpp"
#include "segment/reader_file.hpp"

namespace ttmem::segment {

struct SectionPlace {
  std::uint64_t offset = 0;
  std::uint64_t max_bytes = 0;
  std::uint64_t entry_bytes = 0;
  std::uint64_t entries = 0;  // that fit, within our own limits

  std::uint64_t at(std::uint64_t index) const { return offset + index * entry_bytes; }
};

class Layout {
 public:
  const SectionPlace& section(SectionKind kind) const {
    return places_[static_cast<std::size_t>(kind) - 1];
  }

 private:
  friend Result<Layout> validate(const Header& header);
  std::array<SectionPlace, kSections> places_;
};

Result<Layout> validate(const Header& header);

// One copy of the header, magic and version checked.
Result<Header> read_header(const ReadOnlyFile& file);

// A text field of fixed size, up to its first NUL, unprintable bytes replaced by '?'.
std::string text(const char* field, std::size_t size);
template <std::size_t N>
std::string text(const char (&field)[N]) {
  return text(field, N);
}

}  // namespace ttmem::segment
