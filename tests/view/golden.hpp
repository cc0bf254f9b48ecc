// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Text that must not change by accident: compared with a file of tests/view/golden. With
// TTMEM_UPDATE_GOLDEN=1 in the environment the files are written instead; look at the difference
// before you commit it.
#pragma once

#include <string>

namespace ttmem::test {

std::string golden(const std::string& name, const std::string& actual);

}  // namespace ttmem::test

#define EXPECT_GOLDEN(name, actual) EXPECT_EQ(::ttmem::test::golden(name, actual), actual)
