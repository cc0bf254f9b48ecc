// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Holdings put together by what they have in common, the largest first.
import type { Holding } from '../live/documents.ts';

export interface Group {
  name: string;
  bytes: number;
  count: number;
  children: Group[];
}

// Estimates are in no total, and each device has all of a holding's bytes.
const bytesOf = (holding: Holding): number => (holding.estimated ? 0 : (holding.taken ?? 0) * holding.devices.length);

export function grouped(holdings: Holding[], by: ((holding: Holding) => string)[]): Group[] {
  const [first, ...rest] = by;
  if (!first) return [];
  const groups = new Map<string, Holding[]>();
  for (const holding of holdings) {
    const name = first(holding);
    groups.set(name, [...(groups.get(name) ?? []), holding]);
  }
  return [...groups]
    .map(([name, all]) => ({ name, bytes: sum(all), count: all.length, children: grouped(all, rest) }))
    .sort((a, b) => b.bytes - a.bytes);
}

export const sum = (holdings: Holding[]): number => holdings.reduce((total, each) => total + bytesOf(each), 0);
