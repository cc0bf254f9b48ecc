// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The two things that a service manager (systemd) and a daemon tell each other: sockets that are
// open already, and whether it is ready. Without a manager, both are nothing.
#pragma once

#include <string_view>

namespace ttmem::serve {

struct InheritedSockets {
  int http = -1;
  int legacy = -1;
};

// LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES ("http", "legacy"); sockets without a name are told by
// their kind. Afterwards children inherit neither the sockets nor the variables.
InheritedSockets take_inherited_sockets();

// "READY=1", "STOPPING=1", "RELOADING=1", to $NOTIFY_SOCKET.
void tell_service_manager(std::string_view state);

}  // namespace ttmem::serve
