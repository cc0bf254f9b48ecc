// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Words for people where those of the documents are not enough.
export const KIND_WORDS: Record<string, string> = {
  out_of_memory: 'Out of memory',
  cb_clash: 'Circular buffers clash with L1 buffers',
  dataflow_buffer_clash: 'Dataflow buffers clash with L1 buffers',
  ring_too_small: 'Program too large for the kernel-config ring',
  other: 'Failure',
};

export const SPACE_WORDS: Record<string, string> = {
  dram: 'DRAM',
  l1: 'L1',
  l1_small: 'L1_SMALL',
  trace: 'Trace region',
  system_memory: 'Host memory',
};

export const STRETCH_WORDS: Record<string, string> = {
  fixed: 'Fixed',
  ring: 'Kernel-config ring',
  program_l1: 'Program L1',
  gap: 'Gap',
  free: 'Free',
  buffer: 'L1 buffer',
  l1_small: 'L1_SMALL',
  unknown: 'Unknown',
};

export const ROLE_WORDS: Record<string, string> = {
  worker: 'Worker',
  dispatch: 'Dispatch',
  active_eth: 'Ethernet, active',
  idle_eth: 'Ethernet, idle',
  dram: 'DRAM',
};

// Where figures come from.
export const SOURCE_WORDS: Record<string, string> = {
  api: 'called ttmem itself',
  injector: 'hooks of ttmem run: exact',
  patched: 'a runtime that was built with ttmem: exact',
  legacy: "the original's socket: buffers alone",
  upstream: "the runtime's own shared memory: requested bytes",
  estimate: 'estimated, in no total',
  procfs: 'has a device open; what it holds is not known',
  daemon: 'passed on by a daemon',
};

export const spaced = (word: string): string => word.replaceAll('_', ' ');

// The line of a source by its last two folders; the rest is in the tooltip.
export const shortLine = (line: string): string => line.replace(/^\S*\/(?=[^/\s]+\/[^/\s]+)/, '…/');

// Names come from other people's programs: what would not be seen, or would turn the text around, is shown as a code.
export const visible = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) =>
    `\\u{${character.codePointAt(0)!.toString(16)}}`);
// The same of a text of several lines.
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');
