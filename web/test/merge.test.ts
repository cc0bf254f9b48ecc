// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Delta, Snapshot } from '../src/live/documents.ts';
import { absorb, apply, Gathered, merged, sortedProcesses, stateOf } from '../src/live/merge.ts';
import { MessageReader } from '../src/live/sse.ts';

test('objects are merged field by field, lists and null replace', () => {
  const old = { a: 1, b: { c: 2, d: 3 }, list: [1, 2] };
  assert.deepEqual(merged(old, { b: { c: null }, list: [3] }), { a: 1, b: { c: null, d: 3 }, list: [3] });
  assert.deepEqual(old, { a: 1, b: { c: 2, d: 3 }, list: [1, 2] }, 'the old one is left as it was');
});

test('what did not change is the same object', () => {
  const old = { a: { x: 1 }, b: { y: 1 } };
  const next = merged(old, { b: { y: 2 } });
  assert.equal(next.a, old.a);
  assert.notEqual(next.b, old.b);
});

test('devices of a process are merged by their id', () => {
  const next = merged({ devices: [{ id: 0, open: true }, { id: 3, open: true }] }, { devices: [{ id: 3, open: false }, { id: 5, open: true }] });
  assert.deepEqual(next.devices, [{ id: 0, open: true }, { id: 3, open: false }, { id: 5, open: true }]);
  assert.deepEqual(merged(next, { devices: [] }).devices, []);
});

test('absorbing is merging, into the old object', () => {
  const cases: [object, object][] = [
    [{ a: 1, b: { c: 2, d: 3 }, list: [1, 2] }, { b: { c: null }, list: [3] }],
    [{ ring: null }, { ring: { used: 1 } }],
    [{ ring: { used: 1 } }, { ring: null }],
    [{ devices: [{ id: 0, open: true }, { id: 3, open: true }] }, { devices: [{ id: 3, open: false }, { id: 5, open: true }] }],
    [{ devices: [{ id: 0 }] }, { devices: [] }],
  ];
  for (const [old, change] of cases) {
    const expected = merged(old, change);
    absorb(old, structuredClone(change));
    assert.deepEqual(old, expected);
  }
});

const deltaOf = (change: object): Delta => ({ time_ns: 1, devices: [], processes: [], gone_devices: [], gone_processes: [], unreadable: [], left_behind: [], ...change }) as Delta;

test('several deltas as one say the same', () => {
  const gathered = new Gathered();
  assert.equal(gathered.take(), null);
  gathered.add(deltaOf({ devices: [{ id: 0, dram: { taken: 5 } }, { id: 1, dram: { taken: 7 } }] }));
  gathered.add(deltaOf({ time_ns: 2, devices: [{ id: 0, dram: { peak: 9 } }], gone_devices: [{ id: 1 }], left_behind: ['x'] }));
  assert.deepEqual(gathered.take(), deltaOf({ time_ns: 2, devices: [{ id: 0, dram: { taken: 5, peak: 9 } }], gone_devices: [{ id: 1 }], left_behind: ['x'] }));
  assert.equal(gathered.take(), null, 'told once');
});

test('what is gone and comes again is new', () => {
  const gathered = new Gathered();
  gathered.add(deltaOf({ devices: [{ id: 1, board: 'old' }] }));
  gathered.add(deltaOf({ gone_devices: [{ id: 1 }] }));
  gathered.add(deltaOf({ devices: [{ id: 1, dram: { taken: 1 } }] }));
  const state = stateOf({ devices: [{ id: 1, board: 'old', arch: 'x' }], processes: [] } as unknown as Snapshot);
  apply(state, gathered.take()!);
  assert.deepEqual([...state.devices.values()], [{ id: 1, dram: { taken: 1 } }]);
});

// A stream that was read from a daemon, and the snapshot that it had at the end (tests/web/test_logic.py).
test('a snapshot and its deltas are the last snapshot', { skip: !process.env['TTMEM_STREAM'] }, () => {
  const { text, last } = JSON.parse(readFileSync(process.env['TTMEM_STREAM']!, 'utf8'));
  const reader = new MessageReader();
  let state: ReturnType<typeof stateOf> | undefined, inThrees: ReturnType<typeof stateOf> | undefined;
  const gathered = new Gathered();
  let deltas = 0;
  for (let at = 0; at < text.length; at += 1000) {
    for (const message of reader.push(text.slice(at, at + 1000))) {
      if (message.event === 'snapshot') {
        state = stateOf(JSON.parse(message.data));
        inThrees = stateOf(JSON.parse(message.data));
      }
      if (message.event === 'delta') {
        const delta: Delta = JSON.parse(message.data);
        apply(state!, delta);
        gathered.add(delta); // shared, as in the worker
        if (++deltas % 3 === 0) apply(inThrees!, structuredClone(gathered.take()!));
      }
    }
  }
  assert.ok(deltas > 3);
  const rest = gathered.take();
  if (rest) apply(inThrees!, rest);
  for (const each of [state!, inThrees!]) {
    assert.deepEqual([...each.devices.values()].sort((a, b) => a.id - b.id), last.devices);
    assert.deepEqual(sortedProcesses(each.processes.values()), last.processes);
    assert.equal(each.snapshot.time_ns, last.time_ns);
  }
});
