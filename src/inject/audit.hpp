// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The process checks itself: what we recorded as given out against the runtime's own statistics, at
// most once a second and only after something changed, on a thread of its own. A difference is
// reported when two looks agree on it with no event between them: then it is not a race but a gap.
#pragma once

namespace ttmem::inject {

struct Allocator;

namespace audit {

/// Starts the thread; once per process.
void start();

/// One look at every allocator. Tests call it; the thread does nothing else.
void look();

/// Something happened to this allocator that is no event: the next look must not rely on the last.
void look_again(const Allocator& allocator);

/// After a fork there is no thread; the next start() makes one.
void forget_recorder();

}  // namespace audit
}  // namespace ttmem::inject
