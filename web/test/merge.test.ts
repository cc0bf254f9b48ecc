// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apply, merged, sortedDevices, sortedProcesses, stateOf } from '../src/live/merge.ts';
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

// A stream that was read from a daemon, and the snapshot that it had at the end (tests/web/test_logic.py).
test('a snapshot and its deltas are the last snapshot', { skip: !process.env['TTMEM_STREAM'] }, () => {
  const { text, last } = JSON.parse(readFileSync(process.env['TTMEM_STREAM']!, 'utf8'));
  const reader = new MessageReader();
  let state: ReturnType<typeof stateOf> | undefined;
  let deltas = 0;
  for (let at = 0; at < text.length; at += 1000) {
    for (const message of reader.push(text.slice(at, at + 1000))) {
      if (message.event === 'snapshot') state = stateOf(JSON.parse(message.data));
      if (message.event === 'delta') {
        apply(state!, JSON.parse(message.data));
        ++deltas;
      }
    }
  }
  assert.ok(deltas > 3);
  assert.deepEqual(sortedDevices(state!.devices.values()), last.devices);
  assert.deepEqual(sortedProcesses(state!.processes.values()), last.processes);
});
