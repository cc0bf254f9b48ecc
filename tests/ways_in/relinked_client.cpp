// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The one file that takes the place of allocation_client.cpp in a TT-Metal that was patched for the
// original.
#define TTMEM_ALLOCATION_CLIENT
#include <ttmem/allocation_tracker.hpp>
