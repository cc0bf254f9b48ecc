// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem serve --from FILE`: the documents of the daemon, of any moment of a recording. Every
// request says its moment (`?at=`, else the end), so readers do not disturb each other, and what
// makes the documents does not know that it is the past. It looks at nothing of this host.
#pragma once

#include <string>

#include "serve/config.hpp"
#include "serve/daemon.hpp"

namespace ttmem::serve {

DaemonEnd run_replay_server(const std::string& file, const ServeOptions& options,
                            const Listening& listening);

}  // namespace ttmem::serve
