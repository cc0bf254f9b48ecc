# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# A room is one folder of src/ and one static library `ttmem_<room>`. Sources are found by pattern,
# so a new file needs no edit here; a room without sources yet becomes an interface library, so the
# tree configures at any moment. Which room may link which is written in the rooms' own
# CMakeLists.txt, and scripts/check_rooms holds the includes to the same table.

# ttmem_room(<name> [RECORDER] [TARGET <target>] [SOURCES <file>...] [LINK <target>...])
#
# RECORDER: the sources run inside other people's processes: no exceptions, no RTTI, no libstdc++
# symbol, no assertion (base/assert.hpp), everything hidden but what is exported on purpose.
# Every source sees TTMEM_VERSION, a string.
# TARGET, SOURCES: instead of `ttmem_<name>` and all *.cpp of the folder.
function(ttmem_room name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RECORDER" "TARGET" "SOURCES;LINK")
  if(NOT ARG_TARGET)
    set(ARG_TARGET ttmem_${name})
  endif()
  if(NOT DEFINED ARG_SOURCES AND NOT "SOURCES" IN_LIST ARG_KEYWORDS_MISSING_VALUES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()

  if(NOT ARG_SOURCES)
    add_library(${ARG_TARGET} INTERFACE)
    target_include_directories(${ARG_TARGET} INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                       ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${ARG_TARGET} INTERFACE ${ARG_LINK})
    return()
  endif()

  add_library(${ARG_TARGET} STATIC ${ARG_SOURCES})
  target_include_directories(${ARG_TARGET} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                  ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${ARG_TARGET} PUBLIC ${ARG_LINK} PRIVATE ttmem_strict)
  target_compile_definitions(${ARG_TARGET} PRIVATE TTMEM_VERSION="${PROJECT_VERSION}")
  if(ARG_RECORDER)
    set_target_properties(${ARG_TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${ARG_TARGET} PRIVATE TTMEM_IN_HOST)
    target_compile_options(
      ${ARG_TARGET}
      PRIVATE -fno-exceptions
              -fno-rtti
              -fno-threadsafe-statics
              -fvisibility=hidden
              -fvisibility-inlines-hidden
              -ffunction-sections
              -fdata-sections)
  else()
    # What we read was written by others: an index out of bounds must stop, not go on.
    target_compile_definitions(${ARG_TARGET} PUBLIC _GLIBCXX_ASSERTIONS)
    target_link_libraries(${ARG_TARGET} PRIVATE ttmem_hardened)
  endif()
endfunction()
