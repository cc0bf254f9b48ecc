// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/python_lines.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "ttmem/ttmem.h"

namespace ttmem::inject {

namespace {

constexpr int kMaxFrames = 64;

/// Stable functions of CPython 3.9 and newer, found in whatever holds the interpreter.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*holds_lock)() = nullptr;
  void* (*frame)() = nullptr;              // borrowed
  void* (*frame_before)(void*) = nullptr;  // owned
  void* (*code)(void*) = nullptr;          // owned
  int (*line)(void*) = nullptr;
  void* (*attribute)(void*, const char*) = nullptr;  // owned
  const char* (*text)(void*) = nullptr;
  void (*retain)(void*) = nullptr;
  void (*release)(void*) = nullptr;
  void (*forget_error)() = nullptr;

  bool complete() const {
    return is_initialized && holds_lock && frame && frame_before && code && line && attribute &&
           text && retain && release && forget_error;
  }
};

template <typename Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

Python load() {
  Python python;
  find(python.is_initialized, "Py_IsInitialized");
  find(python.holds_lock, "PyGILState_Check");
  find(python.frame, "PyEval_GetFrame");
  find(python.frame_before, "PyFrame_GetBack");
  find(python.code, "PyFrame_GetCode");
  find(python.line, "PyFrame_GetLineNumber");
  find(python.attribute, "PyObject_GetAttrString");
  find(python.text, "PyUnicode_AsUTF8");
  find(python.retain, "Py_IncRef");
  find(python.release, "Py_DecRef");
  find(python.forget_error, "PyErr_Clear");
  return python;
}

const Python& python() {
  static const Python& once = *new Python(load());
  return once;
}

bool is_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("TTMEM_LINES");
    return value && std::strcmp(value, "1") == 0;
  }();
  return wanted;
}

/// Reads one text attribute and hands it to `use` while it lives.
template <typename Use>
void with_text(void* object, const char* name, Use&& use) {
  void* attribute = python().attribute(object, name);
  const char* text = attribute ? python().text(attribute) : nullptr;
  if (text) {
    use(text);
  } else {
    python().forget_error();
  }
  if (attribute) python().release(attribute);
}

/// The line of this frame; 0 if the frame is ttnn's own.
ttmem_string_t line_of(void* frame) {
  ttmem_string_t line = 0;
  void* code = python().code(frame);
  with_text(code, "co_filename", [&](const char* file) {
    if (std::strstr(file, "/ttnn/")) return;
    with_text(code, "co_name", [&](const char* function) {
      line = ttmem_intern_line(file, static_cast<std::uint32_t>(python().line(frame)), function);
    });
  });
  python().release(code);
  return line;
}

ttmem_string_t innermost_line() {
  if (!python().complete() || !python().is_initialized() || !python().holds_lock()) return 0;
  void* frame = python().frame();
  if (!frame) return 0;
  python().retain(frame);
  ttmem_string_t line = 0;
  for (int depth = 0; frame && depth < kMaxFrames; ++depth) {
    line = line_of(frame);
    void* before = line ? nullptr : python().frame_before(frame);
    python().release(frame);
    frame = before;
  }
  if (frame) python().release(frame);
  return line;
}

}  // namespace

PythonLine::PythonLine() {
  if (!is_wanted()) return;
  const ttmem_string_t line = innermost_line();
  if (!line) return;
  ttmem_tag_push(0, line);
  tagged_ = true;
}

PythonLine::~PythonLine() {
  if (tagged_) ttmem_tag_pop();
}

}  // namespace ttmem::inject
