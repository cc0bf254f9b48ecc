// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who is at the other end of one TCP connection, as its kernel says. What is told depends on it, so
// in doubt it is nobody: another machine, another network, a socket that nobody has open any more,
// a kernel that does not answer.
#pragma once

#include <cstdint>
#include <optional>

#include "serve/peer_owners.hpp"

namespace ttmem::serve {

// Takes ten microseconds, however many sockets there are.
std::optional<std::uint32_t> peer_user(const ConnectionEnds& ends);

}  // namespace ttmem::serve
