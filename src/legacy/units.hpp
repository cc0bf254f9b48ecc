// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Sizes as the original printed them: KB = 1024 B, MB = 1024 KB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ttmem::legacy {

// Log lines: six significant digits, as printf("%g"): "0.0898438".
std::string megabytes(std::uint64_t bytes);
std::string kilobytes(std::uint64_t bytes);
// The viewer: "0.0B", "204.0KB".
std::string compact(std::uint64_t bytes);
std::string compact(const std::optional<std::uint64_t>& bytes);  // "N/A" if it is not known
// The wanted tree: one decimal only where it says something: "112 KB", "2.1 MB".
std::string spaced(std::uint64_t bytes);
std::string spaced(const std::optional<std::uint64_t>& bytes);

}  // namespace ttmem::legacy
