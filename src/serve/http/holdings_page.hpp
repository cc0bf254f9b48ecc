// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// /api/v1/holdings: millions of things, a page at a time. A page is of the moment it is asked for;
// the cursor knows of which state it is, so a page says when the one before was of another.
#pragma once

#include <cstdint>

#include "collect/collector.hpp"
#include "serve/http/request.hpp"
#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// Parameters: limit, cursor, pid, process, device, kind, space. `generation` names the state.
Response holdings_page(const Request& request, const collect::Collector& collector,
                       std::uint64_t generation);

}  // namespace ttmem::serve::http
