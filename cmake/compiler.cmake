# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# Language level, warnings, sanitizers, ccache and output folders: what every target shares.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

# Warnings. `ttmem_warnings` is for everything, `ttmem_strict` adds what only our own code (not the
# macros of a test framework) can keep.
add_library(ttmem_warnings INTERFACE)
target_compile_options(
  ttmem_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wno-missing-field-initializers
            $<$<BOOL:${TTMEM_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TTMEM_SANITIZE STREQUAL "thread")
  # GCC warns about every fence, because TSan does not follow them.
  target_compile_options(ttmem_warnings INTERFACE -Wno-tsan)
endif()
add_library(ttmem_strict INTERFACE)
target_compile_options(ttmem_strict INTERFACE -Wconversion -Wsign-conversion
                                              $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
target_link_libraries(ttmem_strict INTERFACE ttmem_warnings)

# What reads files and messages of strangers: the command and the daemon. Not what enters other
# people's processes, where every call counts, nor what sanitizers check better.
add_library(ttmem_hardened INTERFACE)
if(NOT TTMEM_INSTRUMENTED AND NOT TTMEM_SANITIZE)
  target_compile_options(ttmem_hardened INTERFACE -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(ttmem_hardened INTERFACE -fcf-protection)
  endif()
  if(CMAKE_BUILD_TYPE MATCHES "^Rel|^MinSize")
    # Some distributions define it already, to a lower level.
    target_compile_options(ttmem_hardened INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif()
  target_link_options(ttmem_hardened INTERFACE -Wl,-z,relro -Wl,-z,now)
endif()

if(TTMEM_SANITIZE)
  add_compile_options(-fsanitize=${TTMEM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TTMEM_SANITIZE})
  if(TTMEM_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
endif()
if(TTMEM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sources of a room that are compiled together parse the heavy headers once. So names within one room
# differ, also those in unnamed namespaces: two equal ones are one rule written twice.
if(TTMEM_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # It takes what is included for a header.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endif()

# Binaries name sources relative to the project, so that two checkouts give the same objects and no
# path of the building machine is shipped. A debug build keeps full paths for the debugger.
add_compile_options($<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
               ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

find_package(Threads REQUIRED)
