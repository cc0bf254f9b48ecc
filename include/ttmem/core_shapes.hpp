// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// core_shapes.hpp: the cores that TT-Metal's types name, whatever the type and the release: a core
// (`x`, `y`), a range of cores (`start_coord`, `end_coord`, or `start`, `end`), a set of ranges
// (`ranges()`), a list of any of them, or a variant of them. Both ends of a range are included.
#ifndef TTMEM_CORE_SHAPES_HPP
#define TTMEM_CORE_SHAPES_HPP

#include <ttmem/ttmem.h>

#include <cstdint>
#include <variant>
#include <vector>

namespace ttmem::shapes {

template <class Core>
ttmem_core_range rectangle(const Core& first, const Core& last) {
  return {static_cast<std::uint8_t>(first.x), static_cast<std::uint8_t>(first.y),
          static_cast<std::uint8_t>(last.x), static_cast<std::uint8_t>(last.y)};
}

template <class Spec>
void append_ranges(const Spec& spec, std::vector<ttmem_core_range>& out) {
  if constexpr (requires { spec.ranges(); }) {
    for (const auto& range : spec.ranges()) append_ranges(range, out);
  } else if constexpr (requires { spec.start_coord.x + spec.end_coord.y; }) {
    out.push_back(rectangle(spec.start_coord, spec.end_coord));
  } else if constexpr (requires { spec.start.x + spec.end.y; }) {
    out.push_back(rectangle(spec.start, spec.end));
  } else if constexpr (requires { spec.x + spec.y; }) {
    out.push_back(rectangle(spec, spec));
  } else if constexpr (requires { spec.begin() != spec.end(); }) {
    for (const auto& one : spec) append_ranges(one, out);
  } else {
    std::visit([&out](const auto& one) { append_ranges(one, out); }, spec);
  }
}

template <class Spec>
std::vector<ttmem_core_range> ranges_of(const Spec& spec) {
  std::vector<ttmem_core_range> ranges;
  append_ranges(spec, ranges);
  return ranges;
}

}  // namespace ttmem::shapes

#endif  // TTMEM_CORE_SHAPES_HPP
