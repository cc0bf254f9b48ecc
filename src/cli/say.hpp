// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A word on standard error. Where it cannot be written (nobody reads, the disk is full), the
// command goes on and ends as it would have: what it does must not depend on who listens.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

namespace ttmem::cli {

void say_text(const std::string& text);

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace ttmem::cli
