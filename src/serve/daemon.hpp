// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// `ttmem serve`: one collector, read ten times a second while somebody looks and once a second
// otherwise, and everybody who asks: HTTP, streams, Prometheus, the history, clients of the
// original. It owns no truth: killed and started again, it knows the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "serve/config.hpp"

namespace ttmem::serve {

enum class DaemonEnd : std::uint8_t {
  kStopped,         // by SIGINT or SIGTERM
  kImpossible,      // the system refused
  kAlreadyRunning,  // another daemon has the address, or looks after the same segments
  kNoRecording,     // what was to be replayed is not there, or is no recording
};

// Reads the settings again, for SIGHUP.
using Reload = std::function<Result<Config>()>;

// Is told where HTTP is served, once it is: "http://127.0.0.1:7171".
using Listening = std::function<void(const std::string& url)>;

DaemonEnd run_daemon(const Config& config, const ServeOptions& options, const Reload& reload,
                     const Listening& listening);

}  // namespace ttmem::serve
