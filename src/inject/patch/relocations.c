/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
#define _GNU_SOURCE
#include "inject/patch/relocations.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Tables {
  const ElfW(Sym) * symbols;
  const char* strings;
  const ElfW(Rela) * plain;
  size_t plain_count;
  const ElfW(Rela) * jumps;
  size_t jump_count;
} Tables;

typedef struct Work {
  const struct dl_phdr_info* library;
  Tables tables;
  ttmem_replacement_fn replacement;
  void* context;
  ttmem_relocation_counts counts;
} Work;

static const ElfW(Phdr) * find_segment(const struct dl_phdr_info* library, ElfW(Word) type) {
  for (unsigned i = 0; i < library->dlpi_phnum; ++i) {
    if (library->dlpi_phdr[i].p_type == type) return &library->dlpi_phdr[i];
  }
  return NULL;
}

/* glibc has made the addresses of the dynamic section absolute; the vDSO's are not. */
static const void* absolute(const struct dl_phdr_info* library, ElfW(Addr) address) {
  return (const void*)(address < library->dlpi_addr ? address + library->dlpi_addr : address);
}

static int read_tables(const struct dl_phdr_info* library, Tables* tables) {
  const ElfW(Phdr)* dynamic = find_segment(library, PT_DYNAMIC);
  if (!dynamic) return 0;
  size_t plain_bytes = 0;
  size_t jump_bytes = 0;
  int jumps_are_rela = 0;
  const ElfW(Dyn)* entry = (const ElfW(Dyn)*)(library->dlpi_addr + dynamic->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables->symbols = absolute(library, value);
        break;
      case DT_STRTAB:
        tables->strings = absolute(library, value);
        break;
      case DT_RELA:
        tables->plain = absolute(library, value);
        break;
      case DT_RELASZ:
        plain_bytes = value;
        break;
      case DT_JMPREL:
        tables->jumps = absolute(library, value);
        break;
      case DT_PLTRELSZ:
        jump_bytes = value;
        break;
      case DT_PLTREL:
        jumps_are_rela = value == DT_RELA;
        break;
      default:
        break;
    }
  }
  tables->plain_count = tables->plain ? plain_bytes / sizeof(ElfW(Rela)) : 0;
  tables->jump_count = tables->jumps && jumps_are_rela ? jump_bytes / sizeof(ElfW(Rela)) : 0;
  return tables->symbols && tables->strings;
}

/* Whether the linker made the word's page read-only after it had filled it. */
static int in_relro(const struct dl_phdr_info* library, uintptr_t word) {
  const ElfW(Phdr)* relro = find_segment(library, PT_GNU_RELRO);
  if (!relro) return 0;
  const uintptr_t begin = library->dlpi_addr + relro->p_vaddr;
  return word >= begin && word < begin + relro->p_memsz;
}

static int write_protected(uintptr_t word, void* value) {
  const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  void* page = (void*)(word & ~(page_bytes - 1));
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return -1;
  __atomic_store_n((void**)word, value, __ATOMIC_RELEASE);
  mprotect(page, page_bytes, PROT_READ);
  return 0;
}

static void write_word(Work* work, uintptr_t word, void* value) {
  ++work->counts.found;
  if (__atomic_load_n((void**)word, __ATOMIC_ACQUIRE) == value) return;
  if (!in_relro(work->library, word)) {
    __atomic_store_n((void**)word, value, __ATOMIC_RELEASE);
  } else if (write_protected(word, value) == 0) {
    ++work->counts.unprotected;
  } else {
    ++work->counts.failed;
    return;
  }
  ++work->counts.written;
}

static void replace_all(Work* work, const ElfW(Rela) * relocations, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Rela)* one = &relocations[i];
    const unsigned long type = ELF64_R_TYPE(one->r_info);
    const unsigned long symbol = ELF64_R_SYM(one->r_info);
    if (symbol == 0 || one->r_addend != 0) continue;
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
    const char* name = work->tables.strings + work->tables.symbols[symbol].st_name;
    void* value = work->replacement(name, work->context);
    if (value) write_word(work, work->library->dlpi_addr + one->r_offset, value);
  }
}

ttmem_relocation_counts ttmem_relocations_replace(const struct dl_phdr_info* library,
                                                  ttmem_replacement_fn replacement, void* context) {
  Work work = {.library = library, .replacement = replacement, .context = context};
  if (read_tables(library, &work.tables)) {
    replace_all(&work, work.tables.plain, work.tables.plain_count);
    replace_all(&work, work.tables.jumps, work.tables.jump_count);
  }
  return work.counts;
}
