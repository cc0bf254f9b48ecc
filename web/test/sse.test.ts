// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageReader } from '../src/live/sse.ts';

const TEXT = ': hello\n\nevent: delta\nid: 7\ndata: {"a":1}\n\ndata: x\ndata: y\r\n\n';
const EXPECTED = [
  { event: 'delta', id: '7', data: '{"a":1}' },
  { event: 'message', id: null, data: 'x\ny' },
];

test('wherever the text is cut', () => {
  for (let cut = 0; cut <= TEXT.length; ++cut) {
    const reader = new MessageReader();
    assert.deepEqual([...reader.push(TEXT.slice(0, cut)), ...reader.push(TEXT.slice(cut))], EXPECTED);
  }
});
