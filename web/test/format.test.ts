// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvText } from '../src/format/csv.ts';
import { numberOf, parseFilter } from '../src/format/filter.ts';
import { grouped, sum, treeOf, zoomed } from '../src/format/groups.ts';
import { ageText, bytesText, countText, durationText, exactText, missingText, percentText, rangesText } from '../src/format/units.ts';
import { shortLine, visible } from '../src/format/words.ts';
import { heat, inkOn, levelOf } from '../src/parts/heat.ts';
import type { Holding } from '../src/live/documents.ts';

test('bytes as in the terminal', () => {
  const cases: [number | null, string][] = [
    [0, '0 B'], [1023, '1023 B'], [1024, '1.0 KiB'], [1536, '1.5 KiB'], [1048524, '1023.9 KiB'], [1048525, '1.0 MiB'],
    [26542080, '25.3 MiB'], [-2048, '-2.0 KiB'], [null, '?'], [2 ** 50, '1.0 PiB'], [2 ** 61, '2048.0 PiB'],
  ];
  for (const [bytes, text] of cases) assert.equal(bytesText(bytes), text);
  assert.equal(exactText(1234567), '1,234,567 B');
  assert.equal(exactText(null), 'not known');
  assert.equal(countText(1000), '1,000');
});

test('what is missing of a recording, as in its report', () => {
  assert.equal(missingText(1), '1 event missing: they came too fast to be recorded, or the disk was full');
  assert.equal(missingText(1200), '1,200 events missing: they came too fast to be recorded, or the disk was full');
});

test('shares, ages, ranges', () => {
  assert.equal(percentText(1, 3), '33 %');
  assert.equal(percentText(null, 3), '?');
  assert.equal(percentText(1, 0), '?');
  assert.deepEqual([5, 65, 3700, 90000].map((s) => durationText(s * 1e9)), ['5 s', '1 m 05 s', '1 h 01 m', '1 d 01 h']);
  assert.equal(ageText(null, 5), '-');
  assert.equal(rangesText([3, 0, 1, 7, 2]), '0-3 7');
  assert.equal(rangesText([]), '');
});

interface Row { name: string; size: number | null }
const FIELDS = { name: (row: Row) => row.name, size: (row: Row) => row.size };
const ROWS: Row[] = [{ name: 'ttnn.conv2d', size: 100_000 }, { name: 'matmul two', size: 10 }, { name: 'x', size: null }];
const found = (text: string): string[] => ROWS.filter(parseFilter(text, FIELDS).matches).map((row) => row.name);

test('filters', () => {
  assert.deepEqual(found(''), ['ttnn.conv2d', 'matmul two', 'x']);
  assert.deepEqual(found('CONV'), ['ttnn.conv2d']);
  assert.deepEqual(found('name=conv'), ['ttnn.conv2d']);
  assert.deepEqual(found('"matmul two"'), ['matmul two']);
  assert.deepEqual(found('name="matmul two"'), ['matmul two']);
  assert.deepEqual(found('-conv'), ['matmul two', 'x']);
  assert.deepEqual(found('name!=conv'), ['matmul two', 'x']);
  assert.deepEqual(found('size>64K'), ['ttnn.conv2d']);
  assert.deepEqual(found('size<=10'), ['matmul two']);
  assert.deepEqual(found('size>0 m'), ['matmul two']);
  assert.deepEqual(found('10'), ['matmul two'], 'a word is a number too, all of it');
  assert.deepEqual(found('0xA'), ['matmul two']);
  assert.deepEqual(found('size>=0x186a0'), ['ttnn.conv2d']);
  assert.match(parseFilter('constructor=x', FIELDS).problem!, /No column/);
  assert.match(parseFilter('colour=red', FIELDS).problem!, /No column "colour".*name, size/);
  assert.match(parseFilter('size>much', FIELDS).problem!, /not a number/);
  assert.deepEqual([numberOf('1.5G'), numberOf('64KiB'), numberOf('x')], [1.5 * 2 ** 30, 65536, null]);
});

test('CSV that no spreadsheet takes for a formula', () => {
  assert.equal(csvText([['a', 'b'], ['=cmd()', 'x"y,z'], [null, 5]]), 'a,b\n\'=cmd(),"x""y,z"\n,5\n');
});

test('what would turn a text around is shown as a code', () => {
  assert.equal(visible('a\u202eb\u001bc'), 'a\\u{202e}b\\u{1b}c');
  assert.equal(visible('größe 漢字'), 'größe 漢字');
});

test('lines by their last folders', () => {
  assert.equal(shortLine('/home/user/models/llama/mlp.py:41 forward'), '…/llama/mlp.py:41 forward');
  assert.equal(shortLine('llama/mlp.py:41'), 'llama/mlp.py:41');
  assert.equal(shortLine('mlp.py:41 forward'), 'mlp.py:41 forward');
});

test('levels and their colours', () => {
  assert.equal(levelOf('A'), 0);
  assert.equal(levelOf('/'), 1);
  assert.equal(levelOf('.'), null);
  for (const dark of [true, false]) assert.notDeepEqual(heat(0, dark), heat(1, dark));
  assert.deepEqual(heat(0, true), heat(1, false));
  assert.deepEqual([inkOn([0, 0, 0]), inkOn([255, 255, 255])], ['#fff', '#000']);
});

test('groups add up, estimates are in no sum', () => {
  const holding = (operation: string, taken: number, more = {}) => ({ operation, line: null, taken, devices: [0, 1], estimated: false, ...more }) as unknown as Holding;
  const all = [holding('a', 10), holding('b', 5), holding('a', 1), holding('b', 99, { estimated: true })];
  assert.equal(sum(all), 32);
  const groups = grouped(all, [(each) => each.operation!, () => 'line']);
  assert.deepEqual(groups.map((group) => [group.name, group.bytes, group.count]), [['a', 22, 2], ['b', 10, 2]]);
  assert.ok(groups.every((group) => group.children.reduce((total, child) => total + child.bytes, 0) === group.bytes));
});

test('stacks that begin alike share their steps', () => {
  const rows = [{ path: ['main', 'layer', 'op'], bytes: 5, count: 1 }, { path: ['main', 'other'], bytes: 7, count: 2 }, { path: [], bytes: 1, count: 1 }];
  const tree = treeOf(rows, '?');
  assert.deepEqual(tree.map((group) => [group.name, group.bytes, group.count]), [['main', 12, 3], ['?', 1, 1]]);
  assert.deepEqual(tree[0]!.children.map((group) => group.name), ['other', 'layer']);
  assert.equal(tree.reduce((total, group) => total + group.bytes, 0), 13);
  assert.deepEqual(zoomed(tree, ['main', 'layer']).map((group) => group.bytes), [5]);
  assert.deepEqual(zoomed(tree, ['gone']), tree);
});
