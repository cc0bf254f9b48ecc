// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chipOf, coreName, isIn, launchesOn, notListed } from '../src/format/cores.ts';
import { compared, WHATS } from '../src/format/compare.ts';
import type { CoreL1, Origin, Program } from '../src/live/documents.ts';

const space = (taken: number, buffers: number) => ({ taken, at_peak: null, recent: 0, buffers });
const origin = (name: string, dram: number, pid = 1): Origin => ({
  name, path: [name], pids: [pid], processes: [{ pid, start: 5, segment: null, process: 'python' }],
  dram: space(dram, 1), l1: space(0, 0), l1_small: space(0, 0), trace: space(0, 0), program_l1: 0, kernels: 0, programs: 0,
});

test('two moments: what came, went, grew, shrank', () => {
  const before = [origin('a', 10), origin('b', 20), origin('c', 5), origin('d', 7)];
  const after = [origin('a', 30), origin('c', 4), origin('d', 7), origin('e', 2), origin('a', 1, 2)];
  const rows = compared(before, after, WHATS[0]!);
  assert.deepEqual(rows.map((row) => [row.name, row.processes[0]!.pid, row.change, row.after - row.before]), [
    ['a', 1, 'grew', 20], ['b', 1, 'went', -20], ['c', 1, 'shrank', -1], ['d', 1, 'same', 0], ['e', 1, 'came', 2], ['a', 2, 'came', 1],
  ]);
  const sum = (of: Origin[]) => of.reduce((total, each) => total + each.dram.taken!, 0);
  assert.equal(rows.reduce((total, row) => total + row.after - row.before, 0), sum(after) - sum(before));
  assert.deepEqual(compared(before, after, WHATS[1]!), [], 'nobody has L1');
});

const core = (type: string, x: number, y: number, noc: [number, number] | null = null): CoreL1 =>
  ({ type, x, y, role: type === 'tensix' ? 'worker' : type, noc_x: noc?.[0] ?? null, noc_y: noc?.[1] ?? null }) as CoreL1;

test('cores of a set', () => {
  assert.ok(isIn('0,0-7,6 3,7', { x: 7, y: 6 }) && isIn('0,0-7,6 3,7', { x: 3, y: 7 }));
  assert.ok(!isIn('0,0-7,6 3,7', { x: 4, y: 7 }) && !isIn(null, { x: 0, y: 0 }) && !isIn('12', { x: 1, y: 2 }));
});

test('launches of a core are those of its programs', () => {
  const program = (set: string, rate: number | null) => ({ core_set: set, recent_per_second: rate }) as Program;
  const programs = [program('0,0-3,3', 2), program('2,2', 0.5), program('5,5', null)];
  assert.equal(launchesOn({ x: 2, y: 2 }, programs), 2.5);
  assert.equal(launchesOn({ x: 7, y: 7 }, programs), 0);
  assert.equal(launchesOn({ x: 5, y: 5 }, programs), null, 'nobody has watched it');
});

test('where cores stand', () => {
  const logical = chipOf([core('tensix', 0, 0), core('tensix', 1, 0), core('active_eth', 0, 3), core('idle_eth', 0, 1), core('idle_eth', 0, 2), core('dispatch', 0, 0)]);
  assert.deepEqual([logical.columns, logical.rows, logical.byNetwork], [2, 4, false]);
  assert.deepEqual([...logical.at].map(([at, each]) => `${at} ${coreName(each)}`), [
    '0,0 idle_eth:0,1', '1,0 idle_eth:0,2', '0,1 active_eth:0,3', '0,2 0,0', '1,2 1,0', '0,3 dispatch:0,0',
  ]);
  const network = chipOf([core('tensix', 0, 0, [1, 2]), core('tensix', 1, 0, [7, 2]), core('active_eth', 0, 0, [1, 0])]);
  assert.deepEqual([network.columns, network.rows, network.byNetwork], [2, 2, true], 'empty columns and rows are closed up');
  assert.equal(coreName(network.at.get('1,1')!), '1,0');
  assert.equal(chipOf([]).columns, 0);
  assert.equal(notListed('wormhole_b0', [core('tensix', 0, 0)]), 79);
  assert.equal(notListed('unknown', []), null);
});
