// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Names for calls of native code, out of the symbols and the debug information of their modules
// (elfutils' libdw). A module is opened only if it is a regular file of this user or of root, and
// believed only if it still has the build id that the process has told. Nothing is fetched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttmem::collect {

struct NativeCall {
  std::string module;     // path
  std::string build_id;   // hexadecimal digits; "" = it had none
  std::uint64_t address;  // as the symbols of the module have it
};

struct NativeName {
  std::string file;  // "" = not known
  std::uint32_t line = 0;
  std::string function;  // "" = not known
};

// "libmodel.so+0x1a2b": what can be said without symbols.
std::string text_of(const NativeCall& call);

// "launch<Add>" of "void launch<Add>(Memory&)": what people call a function.
std::string without_parameters(std::string_view name);

// False: this ttmem was built without libdw.
bool can_name_native_calls();
// May take seconds for a large module, once. Safe to call from several threads.
NativeName name_of(const NativeCall& call);

}  // namespace ttmem::collect
