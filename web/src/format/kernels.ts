// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Kernels put together by what they have in common. Equal binaries of a process are one code: it is counted once
// in `code`, while every kernel that has it counts in `kernels` and `footprint`.
import type { Holding } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';

export interface KernelGroup {
  key: string;
  name: string | null;
  of: Holding; // one of them
  kernels: number;
  programs: number;
  cores: number; // on each device, a core counts once for each kernel
  code: number | null; // binary bytes on one device, equal ones once; null: of one it is not known
  footprint: number | null; // on all devices
  launches: number; // of its programs together
}

export const KERNELS_BY: [string, string][] = [['type', 'type'], ['program', 'program'], ['core', 'type of core'], ['code', 'code']];

const programOf = (kernel: Holding): string => `${processKey(kernel)} ${kernel.id}`;
// What is not known to be equal is not.
export const codeOf = (kernel: Holding): string => (kernel.code === null ? `${programOf(kernel)} ${kernel.index}` : `${processKey(kernel)} ${kernel.code}`);

const KEYS: Record<string, (kernel: Holding) => string> = {
  type: (kernel) => (kernel.estimated ? 'estimated' : (kernel.type ?? 'not known')),
  program: programOf,
  core: (kernel) => kernel.core_type ?? 'not known',
  code: codeOf,
};

const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

function group(key: string, by: string, kernels: Holding[], programs: Map<string, string | null>): KernelGroup {
  const codes = new Map(kernels.map((kernel) => [codeOf(kernel), kernel.packed]));
  // Each kernel tells the launches of its whole program.
  const launches = new Map(kernels.map((kernel) => [programOf(kernel), kernel.dispatches ?? 0]));
  const first = kernels[0]!;
  return {
    key, of: first,
    name: by === 'program' ? (programs.get(programOf(first)) ?? first.id) : by === 'code' ? first.name : key,
    kernels: kernels.length,
    programs: new Set(kernels.map(programOf)).size,
    cores: kernels.reduce((sum, kernel) => sum + (kernel.cores ?? 0), 0),
    code: [...codes.values()].reduce<number | null>(add, 0),
    footprint: kernels.reduce<number | null>((sum, kernel) => add(sum, kernel.footprint === null ? null : kernel.footprint * kernel.devices.length), 0),
    launches: [...launches.values()].reduce((sum, each) => sum + each, 0),
  };
}

// Those that are loaded, the largest first. `programs`: names by key. Estimates are in no sum but their own.
export function kernelGroups(all: Holding[], by: string, programs: Map<string, string | null>): KernelGroup[] {
  const key = KEYS[by] ?? KEYS['type']!;
  const groups = new Map<string, Holding[]>();
  for (const kernel of all) {
    if (!kernel.loaded || (kernel.estimated && by !== 'type')) continue;
    const name = key(kernel);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name)!.push(kernel);
  }
  return [...groups].map(([name, kernels]) => group(name, by, kernels, programs)).sort((a, b) => (b.footprint ?? 0) - (a.footprint ?? 0));
}

export const programKey = (whose: { pid: number; start: number; segment: string | null; id: string }): string => `${processKey(whose)} ${whose.id}`;
