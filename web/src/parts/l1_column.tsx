// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The L1 of one core from bottom to top, true to scale, beside the same as a table. A line shows how
// high programs may grow: the lowest L1 buffer.
import { useState } from 'preact/hooks';
import type { CoreL1, Stretch } from '../live/documents.ts';
import { bytesText, exactText, hexText } from '../format/units.ts';
import { STRETCH_WORDS, visible } from '../format/words.ts';
import { Bytes, Name } from './text.tsx';

const KINDS: Record<string, string> = { buffer: 'l1', program_l1: 'program', l1_small: 'l1-small', ring: 'ring', fixed: 'fixed', gap: 'gap', free: 'free', unknown: 'unknown-fill' };

// A part of the ring without a program is free.
const kindOf = (part: Stretch): string => (part.kind === 'ring' && part.name === null ? 'ring-free' : (KINDS[part.kind] ?? 'unknown-fill'));
const wordOf = (part: Stretch): string => (kindOf(part) === 'ring-free' ? 'Ring, free' : (STRETCH_WORDS[part.kind] ?? part.kind));

const percent = (value: number, of: number): string => `${((100 * value) / of).toFixed(3)}%`;

const title = (part: Stretch): string =>
  `${wordOf(part)} ${exactText(part.end - part.begin)} at ${hexText(part.begin)}${part.name ? `, ${visible(part.name)}` : ''}`;

export function L1Column({ core }: { core: CoreL1 }) {
  const [marked, setMarked] = useState<number | null>(null);
  const map = core.map ?? [];
  const end = core.l1_bytes ?? map.at(-1)?.end ?? 0;
  if (map.length === 0 || end === 0) return <p class="quiet">The map of this core is not known.</p>;
  const lowest = map.find((part) => part.kind === 'buffer')?.begin ?? null;
  return (
    <div class="l1-view">
      <div class="l1-column" role="img" aria-label={`L1 of core ${core.x},${core.y} from bottom to top; the table beside it says the same`}>
        {map.map((part, i) => (
          <div
            key={`${part.begin} ${part.kind}`}
            class={`stretch fill ${kindOf(part)}${marked === i ? ' marked' : ''}`}
            style={{ bottom: percent(part.begin, end), height: percent(part.end - part.begin, end) }}
            title={title(part)}
            onMouseEnter={() => setMarked(i)}
            onMouseLeave={() => setMarked(null)}
          />
        ))}
        {lowest !== null && (
          <div class="clash-line" style={{ bottom: percent(lowest, end) }}>
            <span>programs may grow up to here</span>
          </div>
        )}
      </div>
      <div class="l1-table" tabIndex={0} role="group" aria-label="The same as a table">
        <table>
          <caption class="unseen">L1 of core {core.x},{core.y}, from top to bottom</caption>
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">What</th>
              <th scope="col" class="number">Bytes</th>
              <th scope="col">Name</th>
              <th scope="col">Process</th>
            </tr>
          </thead>
          <tbody>
            {map
              .map((part, i) => ({ part, i }))
              .reverse()
              .map(({ part, i }) => (
                <tr key={`${part.begin} ${part.kind}`} class={marked === i ? 'marked' : undefined} data-kind={part.kind} onMouseEnter={() => setMarked(i)} onMouseLeave={() => setMarked(null)}>
                  <td class="mono">{hexText(part.begin)}</td>
                  <td class="what">
                    <span class={`swatch fill ${kindOf(part)}`} aria-hidden="true" /> {wordOf(part)}
                  </td>
                  <td class="number">
                    <Bytes value={part.end - part.begin} />
                  </td>
                  <td class="name">
                    <Name of={part.name} none="" />
                  </td>
                  <td class="name">{part.owner && <Name of={part.pid === null ? part.owner : `${part.owner} ${part.pid}`} />}</td>
                </tr>
              ))}
          </tbody>
        </table>
        <p class="quiet">
          Headroom {bytesText(core.headroom)}; against every program in the cache {bytesText(core.headroom_reserved)}.
        </p>
      </div>
    </div>
  );
}
