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

.macro saved register
        pushq   %\register
        .cfi_adjust_cfa_offset 8
.endm

.macro restored register
        popq    %\register
        .cfi_adjust_cfa_offset -8
.endm

.macro thunk_begins id
        .section .text.hot, "ax", @progbits
        .p2align 4
        .globl  ttmem_thunk_\id
        .hidden ttmem_thunk_\id
        .type   ttmem_thunk_\id, @function
ttmem_thunk_\id:
        .cfi_startproc
        endbr64
        saved   rdi
        saved   rsi
.endm

/* The stack is aligned to 16 bytes before a call. */
.macro thunk_calls id
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    ttmem_on_\id
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
.endm

.macro thunk_ends id
        restored rsi
        restored rdi
        jmp     *ttmem_original_\id(%rip)
        .cfi_endproc
        .size   ttmem_thunk_\id, . - ttmem_thunk_\id
.endm

.macro ENTRY_OF_2_thunk id
        thunk_begins \id
        thunk_calls \id
        thunk_ends \id
.endm

.macro ENTRY_thunk id
        thunk_begins \id
        saved   rdx
        saved   rcx
        saved   r8
        saved   r9
        thunk_calls \id
        restored r9
        restored r8
        restored rcx
        restored rdx
        thunk_ends \id
.endm

#include "inject/hooks.def"

        .section .note.GNU-stack, "", @progbits
