// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One bank, or the L1 of one core, as it was when something failed: what was held and the holes between,
// and below it, at the same scale, what did not fit. Low addresses are at the left.
import type { Strip } from '../live/explained.ts';
import { bytesText, exactText, hexText, nounText } from '../format/units.ts';
import { SPACE_WORDS, visible } from '../format/words.ts';
import { Bytes, Name } from './text.tsx';

const WORDS: Record<string, string> = {
  held: 'Held', hole: 'Hole', mixed: 'Small blocks and holes', program: 'What the program needs', needed: 'What was asked for',
};
const WANTED = new Set(['program', 'needed']);

const wordOf = (strip: Strip): string => WORDS[strip.kind] ?? strip.kind;
const sizeOf = (strip: Strip): number => strip.end - strip.begin;

function tell(strip: Strip): string {
  const many = strip.blocks > 1 ? `, ${nounText(strip.blocks, 'block')}` : '';
  return `${wordOf(strip)}, ${exactText(sizeOf(strip))} at ${hexText(strip.begin)}${many}${strip.name ? `: ${visible(strip.name)}` : ''}`;
}

interface Props {
  strips: Strip[];
  space: string | null;
}

function Lane({ strips, of, begin, size, outside }: { strips: Strip[]; of: (strip: Strip) => string; begin: number; size: number; outside: [number, number][] }) {
  return (
    <div class="picture-lane">
      {strips.map((strip) => (
        <div
          key={`${strip.kind} ${strip.begin}`}
          class={`picture-part ${of(strip)}`}
          data-strip={strip.kind}
          title={tell(strip)}
          style={{ left: `${(100 * (strip.begin - begin)) / size}%`, width: `${(100 * sizeOf(strip)) / size}%` }}
        >
          <span class="picture-label">{bytesText(sizeOf(strip))}</span>
        </div>
      ))}
      {outside.map(([from, to]) => (
        <div key={from} class="picture-part fill beyond" data-beyond={from} style={{ left: `${(100 * (from - begin)) / size}%`, width: `${(100 * (to - from)) / size}%` }} />
      ))}
    </div>
  );
}

export function BankPicture({ strips, space }: Props) {
  const begin = Math.min(...strips.map((strip) => strip.begin)), end = Math.max(...strips.map((strip) => strip.end));
  const there = strips.filter((strip) => !WANTED.has(strip.kind)), wanted = strips.filter((strip) => WANTED.has(strip.kind));
  // What is wanted may go beyond the bank, and that of L1_SMALL begins below it.
  const first = Math.min(...there.map((strip) => strip.begin)), last = Math.max(...there.map((strip) => strip.end));
  const outside = [[begin, first], [last, end]].filter(([from, to]) => from! < to!) as [number, number][];
  const colour = space === 'dram' ? 'dram' : space === 'trace' ? 'trace' : 'l1';
  const kindOf = (strip: Strip): string => (strip.kind === 'held' ? `fill ${colour}` : strip.kind === 'mixed' ? 'fill mixed' : 'fill free');
  return (
    <div class="picture">
      <div data-picture role="img" aria-label={`One ${space === 'dram' || space === 'trace' ? 'bank' : 'core'} of ${SPACE_WORDS[space ?? ''] ?? 'memory'}, from low to high addresses; the table below says the same`}>
        <Lane strips={there} of={kindOf} begin={begin} size={end - begin} outside={outside} />
        {wanted.length > 0 && <Lane strips={wanted} of={() => 'wanted'} begin={begin} size={end - begin} outside={[]} />}
      </div>
      <div class="picture-ends quiet mono"><span>{hexText(begin)}</span><span>{hexText(end)}</span></div>
      <ul class="legend">
        <li><span class={`swatch fill ${colour}`} aria-hidden="true" />Held</li>
        <li><span class="swatch fill free" aria-hidden="true" />Hole</li>
        {outside.length > 0 && <li><span class="swatch fill beyond" aria-hidden="true" />Outside of {space === 'dram' ? 'the bank' : (SPACE_WORDS[space ?? ''] ?? 'it')}</li>}
        {there.some((strip) => strip.kind === 'mixed') && <li><span class="swatch fill mixed" aria-hidden="true" />{WORDS['mixed']}</li>}
        {wanted.map((strip) => <li key={strip.kind}><span class="swatch wanted" aria-hidden="true" />{wordOf(strip)}</li>)}
      </ul>
      <details>
        <summary>The picture as a table</summary>
        <table class="plain-table" data-table="picture">
          <thead>
            <tr><th scope="col">From</th><th scope="col">To</th><th scope="col" class="number">Bytes</th><th scope="col">What</th><th scope="col">Name</th></tr>
          </thead>
          <tbody>
            {strips.map((strip) => (
              <tr key={`${strip.kind} ${strip.begin}`}>
                <td class="mono">{hexText(strip.begin)}</td>
                <td class="mono">{hexText(strip.end)}</td>
                <td class="number"><Bytes value={sizeOf(strip)} /></td>
                <td>{wordOf(strip)}</td>
                <td><Name of={strip.name} none="" /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}
