/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * The words of a loaded library that the dynamic linker fills with the addresses of functions.
 *
 *   caller ──call──▶ PLT ──jmp──▶ [word in .got.plt] ──▶ function        JUMP_SLOT, GLOB_DAT
 *   object ──vptr──▶ vtable: [word] [word] ... ──▶ function              64, inside RELRO
 */
#ifndef TTMEM_INJECT_PATCH_RELOCATIONS_H
#define TTMEM_INJECT_PATCH_RELOCATIONS_H

#include <link.h>

typedef void* (*ttmem_replacement_fn)(const char* symbol, void* context);

typedef struct ttmem_relocation_counts {
  unsigned found;       /* words whose name has a replacement */
  unsigned written;     /* words that had another value before */
  unsigned unprotected; /* of those: words on pages that are read-only */
  unsigned failed;
} ttmem_relocation_counts;

/* Writes the replacement into every word of the library whose symbol has one. */
ttmem_relocation_counts ttmem_relocations_replace(const struct dl_phdr_info* library,
                                                  ttmem_replacement_fn replacement, void* context);

#endif /* TTMEM_INJECT_PATCH_RELOCATIONS_H */
