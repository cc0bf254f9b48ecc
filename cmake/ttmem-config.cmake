# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors

include("${CMAKE_CURRENT_LIST_DIR}/ttmem-targets.cmake")
