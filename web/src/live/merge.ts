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
  for (const [name, value] of Object.entries(change)) {
    const before = result[name];
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

export const processKey = (whose: Whose): string => `${whose.pid}-${whose.start}-${whose.segment ?? ''}`;

export interface State {
  snapshot: Snapshot;
  devices: Map<number, Device>;
  processes: Map<string, Process>;
}

export function stateOf(snapshot: Snapshot): State {
  return {
    snapshot,
    devices: new Map(snapshot.devices.map((each) => [each.id, each])),
    processes: new Map(snapshot.processes.map((each) => [processKey(each), each])),
  };
}

export function apply(state: State, delta: Delta): void {
  for (const gone of delta.gone_devices) state.devices.delete(gone.id);
  for (const gone of delta.gone_processes) state.processes.delete(processKey(gone));
  for (const change of delta.devices) {
    const old = state.devices.get(change.id);
    state.devices.set(change.id, old ? merged(old, change) : (change as Device));
  }
  for (const change of delta.processes) {
    const key = processKey(change);
    const old = state.processes.get(key);
    state.processes.set(key, old ? merged(old, change) : (change as Process));
  }
  state.snapshot = {
    ...state.snapshot,
    time_ns: delta.time_ns,
    unreadable: delta.unreadable,
    left_behind: delta.left_behind,
  };
}

export const sortedDevices = (devices: Iterable<Device>): Device[] => [...devices].sort((a, b) => a.id - b.id);

// The living first, then by pid.
export const sortedProcesses = (processes: Iterable<Process>): Process[] =>
  [...processes].sort((a, b) => Number(b.alive) - Number(a.alive) || a.pid - b.pid || a.start - b.start);
