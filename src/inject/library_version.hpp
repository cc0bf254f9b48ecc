// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The release that a libtt_metal.so belongs to.
#pragma once

#include <string>

namespace ttmem::inject {

/// What its place tells: <packages>/ttnn/build/lib/libtt_metal.so lies beside
/// <packages>/ttnn-<version>.dist-info. "" = it does not tell.
std::string version_of_library(const std::string& path);

}  // namespace ttmem::inject
