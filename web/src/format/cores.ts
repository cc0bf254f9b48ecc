// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which cores are meant, and where they stand: as they lie on the chip's network where that is known, else
// as the terminal draws them (src/top/chip.cpp): ethernet above the worker cores, the others below.
import type { CoreL1, Program } from '../live/documents.ts';

// As the address and the daemon name it: a worker by its place alone.
export const coreName = (core: { type?: string; x: number; y: number }): string =>
  core.type === undefined || core.type === 'tensix' ? `${core.x},${core.y}` : `${core.type}:${core.x},${core.y}`;

// "0,0-7,6 3,7": rectangles and single cores.
export function isIn(set: string | null, core: { x: number; y: number }): boolean {
  return (set ?? '').split(' ').some((range) => {
    const found = /^(\d+),(\d+)(?:-(\d+),(\d+))?$/.exec(range);
    if (!found) return false;
    const [left, top, right = left!, bottom = top!] = found.slice(1).map((each) => (each === undefined ? undefined : Number(each)));
    return left! <= core.x && core.x <= right && top! <= core.y && core.y <= bottom;
  });
}

// How often programs were launched that have this worker core; null: nobody has watched one of them.
export function launchesOn(core: { x: number; y: number }, programs: Program[]): number | null {
  const here = programs.filter((program) => isIn(program.core_set, core));
  if (here.some((program) => program.recent_per_second === null)) return null;
  return here.reduce((sum, program) => sum + program.recent_per_second!, 0);
}

export interface Chip {
  columns: number;
  rows: number;
  byNetwork: boolean;
  at: Map<string, CoreL1>; // by "column,row"
}

export const place = (column: number, row: number): string => `${column},${row}`;

// Columns and rows of the network that have no core at all (routers, PCIe) are left out.
const closedUp = (used: number[]): Map<number, number> => new Map([...new Set(used)].sort((a, b) => a - b).map((each, i) => [each, i]));

function byNetwork(cores: CoreL1[]): Map<string, CoreL1> {
  const columns = closedUp(cores.map((core) => core.noc_x!)), rows = closedUp(cores.map((core) => core.noc_y!));
  return new Map(cores.map((core) => [place(columns.get(core.noc_x!)!, rows.get(core.noc_y!)!), core]));
}

const isEthernet = (core: CoreL1): boolean => core.type === 'active_eth' || core.type === 'idle_eth';

function byLogic(cores: CoreL1[]): Map<string, CoreL1> {
  const tensix = cores.filter((core) => core.type === 'tensix');
  const width = Math.max(1, ...tensix.map((core) => core.x + 1));
  const ethernet = cores.filter(isEthernet).sort((a, b) => a.y - b.y || a.x - b.x);
  const others = cores.filter((core) => core.type !== 'tensix' && !isEthernet(core));
  const first = Math.ceil(ethernet.length / width), below = first + Math.max(0, ...tensix.map((core) => core.y + 1));
  const row = (each: CoreL1, i: number, from: number): [string, CoreL1] => [place(i % width, from + Math.floor(i / width)), each];
  return new Map([
    ...ethernet.map((core, i) => row(core, i, 0)),
    ...tensix.map((core): [string, CoreL1] => [place(core.x, first + core.y), core]),
    ...others.map((core, i) => row(core, i, below)),
  ]);
}

export function chipOf(cores: CoreL1[]): Chip {
  const known = cores.length > 0 && cores.every((core) => core.noc_x !== null && core.noc_y !== null);
  const at = known ? byNetwork(cores) : byLogic(cores);
  const places = [...at.keys()].map((each) => each.split(',').map(Number));
  return { at, byNetwork: known, columns: 1 + Math.max(-1, ...places.map(([column]) => column!)), rows: 1 + Math.max(-1, ...places.map(([, row]) => row!)) };
}

// Tensix cores that a chip is made with; some are switched off in each: harvested.
const MADE: Record<string, number> = { wormhole_b0: 80, blackhole: 140 };

export function notListed(arch: string, cores: CoreL1[]): number | null {
  const made = MADE[arch];
  if (made === undefined) return null;
  const left = made - cores.filter((core) => core.type === 'tensix' || core.type === 'dispatch').length;
  return left > 0 ? left : null;
}
