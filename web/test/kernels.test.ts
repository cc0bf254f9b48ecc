// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import test from 'node:test';
import { kernelGroups } from '../src/format/kernels.ts';
import type { Holding } from '../src/live/documents.ts';

const kernel = (id: string, index: number, more: Partial<Holding>): Holding =>
  ({ kind: 'kernel', pid: 7, start: 1, segment: 's', process: 'p', alive: true, devices: [0, 1], id, index, name: `k${index}`, type: 'application', core_type: 'tensix', processor: 'brisc',
    cores: 10, packed: 100, footprint: 1000, code: null, loaded: true, estimated: false, dispatches: 3, ...more }) as Holding;

const ALL = [
  kernel('a', 0, { code: 'same' }), kernel('b', 0, { code: 'same' }), kernel('b', 1, { packed: 50, footprint: 500 }),
  kernel('c', 0, { type: 'fabric', core_type: 'active_eth', packed: 30, footprint: 30, cores: 1 }),
  kernel('d', 0, { loaded: false }), kernel('e', 0, { estimated: true, footprint: 9999 }),
];
const NAMES = new Map<string, string | null>();

test('equal code is counted once, and every kernel in the footprint', () => {
  const [application, fabric] = kernelGroups(ALL, 'type', NAMES).filter((each) => each.key !== 'estimated');
  assert.deepEqual([application!.kernels, application!.code, application!.footprint, application!.programs], [3, 150, 5000, 2]);
  assert.deepEqual([fabric!.kernels, fabric!.code, fabric!.footprint], [1, 30, 60]);
});

test('by code those that share it are one row', () => {
  const rows = kernelGroups(ALL, 'code', NAMES);
  assert.deepEqual(rows.map((each) => [each.kernels, each.programs, each.code]), [[2, 2, 100], [1, 1, 50], [1, 1, 30]]);
});

test('estimates stand alone, and what is not loaded counts nowhere', () => {
  assert.equal(kernelGroups(ALL, 'type', NAMES).find((each) => each.key === 'estimated')!.footprint, 2 * 9999);
  for (const by of ['program', 'core', 'code']) {
    assert.equal(kernelGroups(ALL, by, NAMES).reduce((sum, each) => sum + each.footprint!, 0), 5060, by);
  }
});

test('unknown stays unknown', () => {
  const [row] = kernelGroups([kernel('a', 0, { packed: null, footprint: null })], 'type', NAMES);
  assert.deepEqual([row!.code, row!.footprint], [null, null]);
});

test('the launches of a row are those of its programs together, each program once', () => {
  const all = [
    kernel('a', 0, { dispatches: 3 }), kernel('a', 1, { dispatches: 3 }), kernel('b', 0, { dispatches: 40 }),
    kernel('b', 0, { pid: 8, dispatches: 500 }),
  ];
  const [row] = kernelGroups(all, 'type', NAMES);
  assert.deepEqual([row!.programs, row!.launches], [3, 543]);
  assert.deepEqual(kernelGroups(all, 'program', NAMES).map((each) => each.launches).sort((a, b) => a - b), [3, 40, 500]);
});
