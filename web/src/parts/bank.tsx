// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One DRAM bank by address: buffers, and the holes between them. Buffers have the same address in
// every bank, so one stands for all.
import { useMemo, useState } from 'preact/hooks';
import type { Bank, BankBlock } from '../live/documents.ts';
import { ageText, bytesText, exactText, hexText, nounText, percentText } from '../format/units.ts';
import { SPACE_WORDS, visible } from '../format/words.ts';
import { now } from '../live/live.ts';
import { setParameters } from '../route.ts';
import { Bytes, Fact } from './text.tsx';

const WIDTH = 1000, HEIGHT = 40;

// All blocks in one path: thousands of them are one element.
function blocksPath(bank: Bank): string {
  const size = bank.end - bank.begin;
  return bank.blocks
    .map((block) => {
      const x = (WIDTH * (block.begin - bank.begin)) / size;
      return `M${x.toFixed(2)} 0h${Math.max(0.6, (WIDTH * (block.end - block.begin)) / size).toFixed(2)}V${HEIGHT}H${x.toFixed(2)}z`;
    })
    .join('');
}

function blockAt(bank: Bank, address: number): BankBlock | undefined {
  let low = 0, high = bank.blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bank.blocks[middle]!.begin <= address) low = middle + 1;
    else high = middle;
  }
  const block = bank.blocks[low - 1];
  return block && address < block.end ? block : undefined;
}

function tell(bank: Bank, address: number): string {
  const block = blockAt(bank, address);
  if (!block) return `${hexText(address)}: free`;
  const what = [block.operation, block.line].filter((each) => each).map((each) => visible(each!)).join(', ');
  return `${hexText(block.begin)}: ${exactText(block.end - block.begin)}, ${visible(block.process)} ${block.pid}${what ? `, ${what}` : ''}, for ${ageText(block.since_ns, now.peek())}`;
}

// The table of all holdings is below, on the same view.
function listByAddress(bank: Bank): void {
  setParameters({ show: `kind=buffer&space=${bank.space}`, sort: 'address' });
  document.querySelector('section[aria-label="holdings"]')?.scrollIntoView();
}

export function BankView({ bank }: { bank: Bank }) {
  const [text, setText] = useState('');
  const path = useMemo(() => blocksPath(bank), [bank]);
  const largest = bank.free[0] ? bank.free[0].end - bank.free[0].begin : 0;
  const name = SPACE_WORDS[bank.space] ?? bank.space;
  const scattered = bank.free_bytes - largest;
  return (
    <section class="bank" aria-label={`${name} bank`}>
      <h3>
        {name} <span class="quiet">one bank of {bank.banks}; all are alike</span>
      </h3>
      <svg
        class="bank-map"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${nounText(bank.blocks.length, 'buffer')}, ${bytesText(bank.free_bytes)} free in ${nounText(bank.free_blocks, 'piece')}`}
        onMouseMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setText(tell(bank, Math.floor(bank.begin + ((event.clientX - box.left) / box.width) * (bank.end - bank.begin))));
        }}
        onMouseLeave={() => setText('')}
      >
        <path class={bank.space === 'trace' ? 'trace' : 'dram'} d={path} />
      </svg>
      <p class="readout quiet">{text || `${hexText(bank.begin)} to ${hexText(bank.end)}; point at a place to see whose it is`}</p>
      {bank.blocks.length > 0 && <button type="button" class="small" onClick={() => listByAddress(bank)}>Its buffers by address, as a table</button>}
      <dl class="facts">
        <Fact label="Free per bank">
          <Bytes value={bank.free_bytes} figure={`${bank.space}.bank_free`} />
        </Fact>
        <Fact label="Pieces">{bank.free_blocks}</Fact>
        <Fact label="Largest free block">
          <Bytes value={largest} figure={`${bank.space}.bank_largest`} />
        </Fact>
        <Fact label="Scattered">
          <Bytes value={scattered} /> ({percentText(scattered, bank.free_bytes)})
        </Fact>
      </dl>
      {bank.truncated && <p class="quiet">Only the lowest {nounText(bank.blocks.length, 'buffer')} are drawn.</p>}
      <details>
        <summary>Free blocks as a table</summary>
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col" class="number">Bytes</th>
            </tr>
          </thead>
          <tbody>
            {bank.free.map((block) => (
              <tr key={block.begin}>
                <td class="mono">{hexText(block.begin)}</td>
                <td class="mono">{hexText(block.end)}</td>
                <td class="number">
                  <Bytes value={block.end - block.begin} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
