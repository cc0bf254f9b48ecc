// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Two moments side by side: what came, went, grew and shrank, by line. The differences of the rows add up
// to that of the sums.
import type { Origin, OriginBytes } from '../live/documents.ts';

export interface What {
  name: string;
  title: string;
  bytes: (of: OriginBytes) => number;
  count: (of: OriginBytes) => number;
}

export const WHATS: What[] = [
  { name: 'dram', title: 'DRAM', bytes: (of) => of.dram.taken ?? 0, count: (of) => of.dram.buffers },
  { name: 'l1', title: 'L1 buffers', bytes: (of) => of.l1.taken ?? 0, count: (of) => of.l1.buffers },
  { name: 'program_l1', title: 'Program L1, allocated', bytes: (of) => of.program_l1, count: (of) => of.programs },
  { name: 'kernels', title: 'Kernels, footprint', bytes: (of) => of.kernels, count: (of) => of.programs },
];

export type Change = 'came' | 'went' | 'grew' | 'shrank' | 'same';

export interface Difference {
  key: string;
  name: string | null;
  processes: Origin['processes'];
  before: number;
  after: number;
  buffersBefore: number;
  buffersAfter: number;
  change: Change;
}

const keyOf = (origin: Origin): string => JSON.stringify([origin.name, origin.processes.map((each) => [each.pid, each.start])]);

function changeOf(before: number, after: number): Change {
  if (before === after) return 'same';
  if (before === 0) return 'came';
  if (after === 0) return 'went';
  return after > before ? 'grew' : 'shrank';
}

export function compared(before: Origin[], after: Origin[], what: What): Difference[] {
  const old = new Map(before.map((each) => [keyOf(each), each])), fresh = new Map(after.map((each) => [keyOf(each), each]));
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((key) => {
      const then = old.get(key), now = fresh.get(key);
      const from = then ? what.bytes(then) : 0, to = now ? what.bytes(now) : 0;
      return {
        key, name: (now ?? then)!.name, processes: (now ?? then)!.processes, before: from, after: to, change: changeOf(from, to),
        buffersBefore: then ? what.count(then) : 0, buffersAfter: now ? what.count(now) : 0,
      };
    })
    .filter((each) => each.before !== 0 || each.after !== 0);
}
