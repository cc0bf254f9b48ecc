// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The page for people: files of the binary, and for every path that could be a view the page itself
// (`/d/0/c/3,4`), so that a link survives a reload.
#pragma once

#include <optional>

#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// Nothing if the page has no such file and no view could have that path.
std::optional<Response> page_answer(const Request& request);

}  // namespace ttmem::serve::http
