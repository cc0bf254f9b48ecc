# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# TTMEM_PORTABLE: binaries that need nothing of this machine but glibc and libgcc_s, so that a wheel
# runs elsewhere. libstdc++ goes into the command (never into a library that lives in another
# program), formatting libraries are used as headers, others as archives where there are any.

set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -static-libstdc++")
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)

# The packages define shared libraries under these names unless somebody did before them.
add_library(fmt::fmt-header-only INTERFACE IMPORTED GLOBAL)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
target_link_libraries(fmt::fmt INTERFACE fmt::fmt-header-only)
add_library(spdlog::spdlog_header_only INTERFACE IMPORTED GLOBAL)
target_compile_definitions(spdlog::spdlog_header_only INTERFACE SPDLOG_FMT_EXTERNAL_HO)
target_link_libraries(spdlog::spdlog_header_only INTERFACE fmt::fmt)
add_library(spdlog::spdlog INTERFACE IMPORTED GLOBAL)
target_link_libraries(spdlog::spdlog INTERFACE spdlog::spdlog_header_only)
