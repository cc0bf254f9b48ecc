# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The ttmem authors
#
# ttmem_pytest(<name> <file> LABEL <label> [TIMEOUT <seconds>] [LOCK <resource>] [ENVIRONMENT <a=b>...])
#
# One file of Python tests as one test of ctest, which runs several at the same time. Its cases are
# counted one by one in the summary of scripts/test.

# An interpreter with what scripts/setup installs for the tests: Debian's own, if the first has not.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(candidate ${Python3_EXECUTABLE} /usr/bin/python3)
  execute_process(
    COMMAND ${candidate} -c "import pytest"
    RESULT_VARIABLE lacks
    OUTPUT_QUIET ERROR_QUIET)
  if(lacks EQUAL 0)
    set(TTMEM_PYTHON ${candidate})
    break()
  endif()
endforeach()
if(NOT TTMEM_PYTHON)
  message(FATAL_ERROR "no Python has pytest, which the tests need: run `make setup`")
endif()

function(ttmem_pytest name file)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "LABEL;TIMEOUT;LOCK" "ENVIRONMENT")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1200) # that of something that hangs: a busy machine is slow
  endif()
  add_test(NAME ${name} COMMAND ${TTMEM_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/run_pytest.py
                                ${file})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS ${ARG_LABEL}
               TIMEOUT ${ARG_TIMEOUT}
               SKIP_RETURN_CODE 77
               ENVIRONMENT
               "TTMEM_BUILD_DIR=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;${ARG_ENVIRONMENT}")
  if(ARG_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${ARG_LOCK})
  endif()
endfunction()

# ttmem_pytest_folder(<prefix> LABEL <label> ...): every test_*.py of this folder, and every long_*.py
# and tools_*.py under the label `long` or `tools`: they are run when asked for.
function(ttmem_pytest_folder prefix)
  file(GLOB files CONFIGURE_DEPENDS test_*.py)
  foreach(file IN LISTS files)
    cmake_path(GET file STEM name)
    string(REGEX REPLACE "^test_" "" name ${name})
    ttmem_pytest(${prefix}.${name} ${file} ${ARGN})
  endforeach()
  foreach(label long tools)
    file(GLOB files CONFIGURE_DEPENDS ${label}_*.py)
    foreach(file IN LISTS files)
      cmake_path(GET file STEM name)
      ttmem_pytest(${prefix}.${name} ${file} LABEL ${label} TIMEOUT ${long_seconds})
    endforeach()
  endforeach()
endfunction()
