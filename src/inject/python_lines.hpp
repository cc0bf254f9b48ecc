// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The line of the host's own Python code that asked for something, for `ttmem run --lines`. Off by
// default: it walks the interpreter's frames at every allocation and enqueue.
#pragma once

namespace ttmem::inject {

/// While it exists, what this thread records carries the line of the innermost Python frame outside
/// ttnn. Does nothing unless TTMEM_LINES=1, in a thread that is not running Python, or in a
/// program that has none.
class PythonLine {
 public:
  PythonLine();
  ~PythonLine();
  PythonLine(const PythonLine&) = delete;
  PythonLine& operator=(const PythonLine&) = delete;

 private:
  bool tagged_ = false;
};

}  // namespace ttmem::inject
