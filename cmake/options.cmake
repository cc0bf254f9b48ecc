# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# The switches of the build. Tests and benchmarks need packages that the product does not, so they
# are on by default only where those packages are found: `make build` must work without them.

option(TTMEM_WERROR "Treat warnings as errors" OFF)
set(TTMEM_SANITIZE "" CACHE STRING "Sanitizers of the whole build, as in -fsanitize=")

find_package(GTest QUIET)
find_package(benchmark QUIET)
option(TTMEM_TESTS "Build the tests (needs GoogleTest)" ${GTest_FOUND})
option(TTMEM_BENCH "Build the benchmarks (needs Google Benchmark)" ${benchmark_FOUND})
option(TTMEM_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(TTMEM_SERVICE "Install the units of the host-wide daemon (systemd)" ON)
option(TTMEM_UNITY "Compile several sources of a room at once, which takes a third of the time" ON)
option(TTMEM_PORTABLE "Make binaries that run on other machines (see portable.cmake)" OFF)

# An instrumented build serves tests only: it has no shared library, no command and no package.
if(TTMEM_SANITIZE OR TTMEM_FUZZ)
  set(TTMEM_INSTRUMENTED ON)
  set(TTMEM_BENCH OFF)
else()
  set(TTMEM_INSTRUMENTED OFF)
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
