// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// "/api": what programs can ask for here, with links. Nothing in it comes from a workload.
Response api_page();

}  // namespace ttmem::serve::http
