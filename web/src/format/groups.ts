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

export const NO_OPERATION = '(no operation)', NO_LINE = '(no line)';

export const byOperationAndLine = (holdings: Holding[]): Group[] =>
  grouped(holdings, [(each) => each.operation ?? NO_OPERATION, (each) => each.line ?? NO_LINE]);

export interface Stacked {
  path: string[]; // from the outermost step inwards
  bytes: number;
  count: number;
}

// Stacks that begin alike share the steps that they have in common.
export function treeOf(rows: Stacked[], unknown: string): Group[] {
  const root: Group = { name: '', bytes: 0, count: 0, children: [] };
  for (const row of rows) {
    let at = root;
    for (const name of row.path.length > 0 ? row.path : [unknown]) {
      let child = at.children.find((each) => each.name === name);
      if (!child) at.children.push((child = { name, bytes: 0, count: 0, children: [] }));
      child.bytes += row.bytes;
      child.count += row.count;
      at = child;
    }
  }
  const sort = (group: Group): void => {
    group.children.sort((a, b) => b.bytes - a.bytes);
    group.children.forEach(sort);
  };
  sort(root);
  return root.children;
}

// The bar at the end of a trail alone, or all where there is none.
export function zoomed(groups: Group[], trail: string[]): Group[] {
  const [first, ...rest] = trail;
  if (first === undefined) return groups;
  const found = groups.find((each) => each.name === first);
  if (!found) return groups;
  return rest.length === 0 ? [found] : zoomed(found.children, rest);
}
