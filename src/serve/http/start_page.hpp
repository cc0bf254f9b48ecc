// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#pragma once

#include "serve/http/response.hpp"

namespace ttmem::serve::http {

// "/": what can be asked for here, for people. Nothing in it comes from a workload.
Response start_page();

}  // namespace ttmem::serve::http
