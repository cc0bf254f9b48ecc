/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The ttmem authors */
/*
 * One trampoline a hooked name, and the table they jump through. The code after each jump runs for the
 * first call only: it asks the C part where the call shall go, with every register that can hold an
 * argument saved, and goes there. No trampoline has a frame, so none takes part in unwinding.
 */

#define SLOT_SIZE 24
#define SLOT_TARGET 8

        .set    index, 0

.macro trampoline symbol
        .section .rodata.ttmem_names, "aS", @progbits
.Lname_\symbol:
        .asciz  "\symbol"

        .section .data.ttmem_slots, "aw", @progbits
        .quad   .Lname_\symbol, .Lfirst_\symbol, 0

        .text
        .p2align 4
        .globl  \symbol
        .type   \symbol, @function
\symbol:
        .cfi_startproc
        endbr64
        jmp     *(.Lslots + index * SLOT_SIZE + SLOT_TARGET)(%rip)
.Lfirst_\symbol:
        movl    $index, %r11d
        jmp     .Lfirst_call
        .cfi_endproc
        .size   \symbol, . - \symbol
        .set    index, index + 1
.endm

        .section .data.ttmem_slots, "aw", @progbits
        .p2align 3
.Lslots:

#define TTMEM_HOOK(id, manner, symbol, lost) trampoline symbol;
#include "inject/hooks.def"

        .text
        .p2align 4
        .type   .Lfirst_call, @function
.Lfirst_call:
        .cfi_startproc
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
        movl    %r11d, %edi
        movq    200(%rsp), %rsi         /* the caller's return address */
        call    ttmem_preload_resolve
        movq    %rax, %r11
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
        jmp     *%r11
        .cfi_endproc

/* For the C part: the table and its length. */
        .globl  ttmem_preload_table
        .hidden ttmem_preload_table
        .type   ttmem_preload_table, @object
        .set    ttmem_preload_table, .Lslots
        .section .rodata
        .globl  ttmem_preload_count
        .hidden ttmem_preload_count
        .type   ttmem_preload_count, @object
        .p2align 2
ttmem_preload_count:
        .long   index

        .section .note.GNU-stack, "", @progbits
