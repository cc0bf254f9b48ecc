// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors

#include "inject/native/modules.hpp"

#include <link.h>

#include <cstring>

namespace ttmem::inject::native {

namespace {

struct Search {
  std::uintptr_t instruction;
  Module* found;
};

bool covers(const dl_phdr_info& module, const ElfW(Phdr) & part, std::uintptr_t address) {
  const std::uintptr_t start = module.dlpi_addr + part.p_vaddr;
  return part.p_type == PT_LOAD && address >= start && address - start < part.p_memsz;
}

const ElfW(Phdr) * part_with(const dl_phdr_info& module, std::uintptr_t address) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    if (covers(module, module.dlpi_phdr[i], address)) return &module.dlpi_phdr[i];
  }
  return nullptr;
}

void take_unwinding(const dl_phdr_info& module, std::uintptr_t header, UnwindTable& table) {
  const ElfW(Phdr)* part = part_with(module, header);
  if (!part) return;
  const std::uintptr_t start = module.dlpi_addr + part->p_vaddr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader told
  table.memory = {reinterpret_cast<const std::uint8_t*>(start), part->p_filesz};
  table.header = header;
}

void take_build_id(const dl_phdr_info& module, const ElfW(Phdr) & notes, Module& found) {
  std::uintptr_t at = module.dlpi_addr + notes.p_vaddr;
  const std::uintptr_t end = at + notes.p_memsz;
  while (end - at > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader told
    std::memcpy(&note, reinterpret_cast<const void*>(at), sizeof note);
    const std::uintptr_t name = at + sizeof note;
    const std::uint64_t bytes = ((note.n_namesz + 3u) & ~3u) + ((note.n_descsz + 3u) & ~3u);
    if (bytes > end - name) return;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* owner = reinterpret_cast<const char*>(name);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(owner, "GNU", 4) == 0) {
      const auto* id = reinterpret_cast<const std::uint8_t*>(owner + 4);
      for (unsigned i = 0; i < note.n_descsz && i < sizeof found.build_id / 2; ++i) {
        found.build_id[2 * i] = "0123456789abcdef"[id[i] >> 4];
        found.build_id[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
      }
      return;
    }
    at = name + bytes;
  }
}

int look(dl_phdr_info* module, std::size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  if (!part_with(*module, search.instruction)) return 0;
  search.found->base = module->dlpi_addr;
  search.found->path = module->dlpi_name ? module->dlpi_name : "";
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    if (part.p_type == PT_GNU_EH_FRAME) {
      take_unwinding(*module, module->dlpi_addr + part.p_vaddr, search.found->unwinding);
    } else if (part.p_type == PT_NOTE && search.found->build_id[0] == 0) {
      take_build_id(*module, part, *search.found);
    }
  }
  return 1;
}

}  // namespace

bool find_module(std::uintptr_t instruction, Module& found) {
  found = {};
  Search search = {instruction, &found};
  return ::dl_iterate_phdr(look, &search) != 0;
}

std::uint64_t unloaded_modules() {
  std::uint64_t count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        *static_cast<std::uint64_t*>(data) = module->dlpi_subs;
        return 1;
      },
      &count);
  return count;
}

}  // namespace ttmem::inject::native
