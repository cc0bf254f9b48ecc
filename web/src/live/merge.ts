// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A snapshot and what changed since: snapshot + deltas = snapshot, as docs/http.md says.
import type { Delta, Device, Process, Snapshot, Whose } from './documents.ts';

type Plain = Record<string, unknown>;

const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// New objects along the changed path only: who compares by identity sees what changed.
export function merged<T>(old: T, change: object): T {
  const result: Plain = { ...(old as Plain) };
  for (const name in change) {
    const value = (change as Plain)[name], before = result[name];
    if (isPlain(value) && isPlain(before)) {
      result[name] = merged(before, value);
    } else if (name === 'devices' && Array.isArray(value) && isPlain(value[0]) && Array.isArray(before)) {
      result[name] = mergedById(before as { id: number }[], value as { id: number }[]);
    } else {
      result[name] = value;
    }
  }
  return result as T;
}

function mergedById(before: { id: number }[], changes: { id: number }[]): { id: number }[] {
  const known = new Map(before.map((each) => [each.id, each]));
  for (const change of changes) {
    const old = known.get(change.id);
    known.set(change.id, old ? merged(old, change) : change);
  }
  return [...known.values()];
}

// The same into the old object itself, for who throws the copies away: the worker, ten times per second.
export function absorb(old: object, change: object): void {
  const into = old as Plain;
  for (const name in change) {
    const value = (change as Plain)[name], before = into[name];
    if (isPlain(value) && isPlain(before)) {
      absorb(before, value);
    } else if (name === 'devices' && Array.isArray(value) && isPlain(value[0]) && Array.isArray(before)) {
      for (const each of value as { id: number }[]) {
        const known = (before as { id: number }[]).find((one) => one.id === each.id);
        if (known) absorb(known, each);
        else before.push(each);
      }
    } else {
      into[name] = value;
    }
  }
}

function put<Key>(map: Map<Key, object>, key: Key, change: object): void {
  const known = map.get(key);
  if (known) absorb(known, change);
  else map.set(key, change);
}

export const processKey = (whose: Whose): string => `${whose.pid}-${whose.start}-${whose.segment ?? ''}`;

export interface State {
  snapshot: Snapshot;
  devices: Map<number, Device>;
  processes: Map<string, Process>;
}

export function stateOf(snapshot: Snapshot): State {
  return {
    snapshot: { ...snapshot, devices: [], processes: [] }, // those of the maps
    devices: new Map(snapshot.devices.map((each) => [each.id, each])),
    processes: new Map(snapshot.processes.map((each) => [processKey(each), each])),
  };
}

export function apply(state: State, delta: Delta): void {
  for (const gone of delta.gone_devices) state.devices.delete(gone.id);
  for (const gone of delta.gone_processes) state.processes.delete(processKey(gone));
  for (const change of delta.devices) put(state.devices, change.id, change);
  for (const change of delta.processes) put(state.processes, processKey(change), change);
  state.snapshot.time_ns = delta.time_ns;
  state.snapshot.unreadable = delta.unreadable;
  state.snapshot.left_behind = delta.left_behind;
}

// Several deltas as one that says the same: whoever is told twice a second need not merge, nor be sent,
// what was already old.
export class Gathered {
  private last: Delta | null = null;
  private devices = new Map<number, object>();
  private processes = new Map<string, object>();
  private goneDevices = new Map<number, { id: number }>();
  private goneProcesses = new Map<string, Whose>();

  // Of the caller's, which is not to be used again.
  add(delta: Delta): void {
    this.last = delta;
    // What is gone and comes again comes whole; who applies this forgets the old one first.
    for (const gone of delta.gone_devices) {
      this.devices.delete(gone.id);
      this.goneDevices.set(gone.id, gone);
    }
    for (const gone of delta.gone_processes) {
      this.processes.delete(processKey(gone));
      this.goneProcesses.set(processKey(gone), gone);
    }
    for (const change of delta.devices) put(this.devices, change.id, change);
    for (const change of delta.processes) put(this.processes, processKey(change), change);
  }

  // All since the last call; null: nothing.
  take(): Delta | null {
    if (!this.last) return null;
    const delta: Delta = {
      ...this.last,
      devices: [...this.devices.values()] as Delta['devices'],
      processes: [...this.processes.values()] as Delta['processes'],
      gone_devices: [...this.goneDevices.values()],
      gone_processes: [...this.goneProcesses.values()],
    };
    this.clear();
    return delta;
  }

  clear(): void {
    this.last = null;
    for (const each of [this.devices, this.processes, this.goneDevices, this.goneProcesses]) each.clear();
  }
}

// The living first, then by pid.
export const sortedProcesses = (processes: Iterable<Process>): Process[] =>
  [...processes].sort((a, b) => Number(b.alive) - Number(a.alive) || a.pid - b.pid || a.start - b.start);
