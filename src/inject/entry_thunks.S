/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * A thunk for each ENTRY hook: saves every register that can hold an argument, lets the observer look,
 * restores them and jumps to the original. The original sees the call as it was made and returns
 * straight to the caller.
 */

#define TTMEM_HOOK(id, manner, symbol, lost) manner##_thunk id;

.macro FRAME_thunk id
.endm

.macro ENTRY_thunk id
        .text
        .p2align 4
        .globl  ttmem_thunk_\id
        .hidden ttmem_thunk_\id
        .type   ttmem_thunk_\id, @function
ttmem_thunk_\id:
        .cfi_startproc
        endbr64
        leaq    ttmem_on_\id(%rip), %r11
        pushq   %rax
        .cfi_adjust_cfa_offset 8
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
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        subq    $136, %rsp
        .cfi_adjust_cfa_offset 136
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        call    *%r11
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        addq    $136, %rsp
        .cfi_adjust_cfa_offset -136
        popq    %r10
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
        popq    %rax
        .cfi_adjust_cfa_offset -8
        jmp     *ttmem_original_\id(%rip)
        .cfi_endproc
        .size   ttmem_thunk_\id, . - ttmem_thunk_\id
.endm

#include "inject/hooks.def"

        .section .note.GNU-stack, "", @progbits
