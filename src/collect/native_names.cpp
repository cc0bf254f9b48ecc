// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
#include "collect/native_names.hpp"

#include <fmt/format.h>

#ifdef TTMEM_WITH_LIBDW
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "base/file_descriptor.hpp"
#endif

namespace ttmem::collect {

std::string text_of(const NativeCall& call) {
  return fmt::format("{}+{:#x}", call.module.substr(call.module.rfind('/') + 1), call.address);
}

std::string without_parameters(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  if (name.find("operator") != name.npos) return std::string(name);
  int depth = 0;  // of templates
  std::size_t start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
    } else if (name[i] == '<') {
      ++depth;
    } else if (name[i] == '>') {
      --depth;
    } else if (depth == 0 && name[i] == ' ') {
      start = i + 1;  // what a template returns
    } else if (depth == 0 && name[i] == '(') {
      return std::string(name.substr(start, i - start));
    }
  }
  return std::string(name);
}

#ifdef TTMEM_WITH_LIBDW

namespace {

// Separate files of debug information are not looked for: the way there may lead over a network.
int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                       GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                   .find_debuginfo = find_no_debug_file,
                                   .section_address = dwfl_offline_section_address,
                                   .debuginfo_path = nullptr};

struct EndSession {
  void operator()(Dwfl* session) const { dwfl_end(session); }
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  return without_parameters(text ? text.get() : symbol);
}

// Of the function itself, where others may be inlined: the line of the outermost inlined call.
bool find_call_line(Dwfl_Module* module, Dwarf_Addr at, NativeName& name) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, at, &bias);
  Dwarf_Die* found = nullptr;
  const int count = unit ? dwarf_getscopes(unit, at - bias, &found) : 0;
  const std::unique_ptr<Dwarf_Die, Free> scopes(found);
  Dwarf_Die* outermost = nullptr;
  for (int i = 0; i < count && dwarf_tag(&found[i]) != DW_TAG_subprogram; ++i) {
    if (dwarf_tag(&found[i]) == DW_TAG_inlined_subroutine) outermost = &found[i];
  }
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  Dwarf_Word file = 0;
  Dwarf_Files* files = nullptr;
  std::size_t file_count = 0;
  if (!outermost ||
      dwarf_formudata(dwarf_attr(outermost, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_formudata(dwarf_attr(outermost, DW_AT_call_file, &attribute), &file) != 0 ||
      dwarf_getsrcfiles(unit, &files, &file_count) != 0 || file >= file_count) {
    return false;
  }
  const char* path = dwarf_filesrc(files, file, nullptr, nullptr);
  if (!path || line > UINT32_MAX) return false;
  name.file = path;
  name.line = static_cast<std::uint32_t>(line);
  return true;
}

class ModuleNames {
 public:
  explicit ModuleNames(const std::string& path) : session_(dwfl_begin(&kCallbacks)) {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status = {};
    if (!session_ || file.get() < 0 || ::fstat(file.get(), &status) != 0) return;
    const bool ours = status.st_uid == 0 || status.st_uid == ::geteuid();
    if (!S_ISREG(status.st_mode) || !ours) return;
    dwfl_report_begin(session_.get());
    module_ = dwfl_report_offline(session_.get(), path.c_str(), path.c_str(), file.get());
    if (module_) static_cast<void>(file.release());  // it is the session's now
    dwfl_report_end(session_.get(), nullptr, nullptr);
    GElf_Addr bias = 0;
    if (module_ && !dwfl_module_getelf(module_, &bias)) module_ = nullptr;
    bias_ = bias;
  }

  bool is(const std::string& build_id) {
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int size = module_ ? dwfl_module_build_id(module_, &bits, &address) : 0;
    std::string text;
    for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", bits[i]);
    return module_ && text == build_id;
  }

  NativeName find(std::uint64_t address) {
    NativeName name;
    const Dwarf_Addr at = address + bias_;
    if (const char* symbol = dwfl_module_addrname(module_, at)) name.function = demangled(symbol);
    if (find_call_line(module_, at, name)) return name;
    int line = 0;
    if (Dwfl_Line* found = dwfl_module_getsrc(module_, at)) {
      if (const char* file = dwfl_lineinfo(found, nullptr, &line, nullptr, nullptr, nullptr)) {
        name.file = file;
        name.line = line > 0 ? static_cast<std::uint32_t>(line) : 0;
      }
    }
    return name;
  }

 private:
  std::unique_ptr<Dwfl, EndSession> session_;
  Dwfl_Module* module_ = nullptr;  // null: it is not to be read
  GElf_Addr bias_ = 0;
};

}  // namespace

bool can_name_native_calls() { return true; }

NativeName name_of(const NativeCall& call) {
  static std::mutex mutex;
  static std::map<std::string, ModuleNames> modules;
  const std::lock_guard lock(mutex);
  ModuleNames& module = modules.try_emplace(call.module, call.module).first->second;
  return module.is(call.build_id) ? module.find(call.address) : NativeName{};
}

#else

bool can_name_native_calls() { return false; }
NativeName name_of(const NativeCall&) { return {}; }

#endif

}  // namespace ttmem::collect
