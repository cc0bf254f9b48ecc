// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include <string>
#include <vector>

#include "view/json_values.hpp"

namespace ttmem::serve::http {

// How `ttmem push` goes, from the file push.json that it keeps in a directory of segments; null if
// there is none, or it is neither ours nor root's. Only what is known of it is told.
view::json::Json push_state(const std::vector<std::string>& directories);

}  // namespace ttmem::serve::http
