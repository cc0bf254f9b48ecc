/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * A thunk for each ENTRY hook: saves every register that can hold an argument, lets the observer look,
 * restores them and jumps to the original. The original sees the call as it was made and returns
 * straight to the caller. The mangled names of hooks.def fix the types of all arguments: none is a
 * floating-point number, so the vector registers carry nothing.
 */

#define TTMEM_HOOK(id, manner, symbol, lost) manner##_thunk id;

.macro FRAME_thunk id
.endm

.macro ENTRY_thunk id
        .section .text.hot, "ax", @progbits
        .p2align 4
        .globl  ttmem_thunk_\id
        .hidden ttmem_thunk_\id
        .type   ttmem_thunk_\id, @function
ttmem_thunk_\id:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    ttmem_on_\id
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *ttmem_original_\id(%rip)
        .cfi_endproc
        .size   ttmem_thunk_\id, . - ttmem_thunk_\id
.endm

#include "inject/hooks.def"

        .section .note.GNU-stack, "", @progbits
