// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The L1 of one core from bottom to top, true to scale, beside the same as a table. Two lines show how
// close to a clash it is: the lowest L1 buffer, and where the L1 of the largest live program ends.
// Views are circular buffers that lie in a buffer: a lane of their own, as they take nothing.
import { useState } from 'preact/hooks';
import type { CoreL1, Holding, Stretch } from '../live/documents.ts';
import { isIn } from '../format/cores.ts';
import { ageText, bytesText, exactText, hexText } from '../format/units.ts';
import { STRETCH_WORDS, visible } from '../format/words.ts';
import { now } from '../live/live.ts';
import { Bytes, Line, Name } from './text.tsx';

const KINDS: Record<string, string> = { buffer: 'l1', program_l1: 'program', l1_small: 'l1-small', ring: 'ring', fixed: 'fixed', gap: 'gap', free: 'free', unknown: 'unknown-fill' };
const MOST_VIEWS = 40;

// A part of the ring without a program is free, and of L1_SMALL without a buffer.
const FREE: Record<string, [string, string]> = { ring: ['ring-free', 'Ring, free'], l1_small: ['l1-small-free', 'L1_SMALL, free'] };
const isFreePart = (part: Stretch): boolean => part.name === null && part.owner === null && part.kind in FREE;
const kindOf = (part: Stretch): string => (isFreePart(part) ? FREE[part.kind]![0] : (KINDS[part.kind] ?? 'unknown-fill'));
const wordOf = (part: Stretch): string => (isFreePart(part) ? FREE[part.kind]![1] : (STRETCH_WORDS[part.kind] ?? part.kind));

const percent = (value: number, of: number): string => `${((100 * value) / of).toFixed(3)}%`;

const title = (part: Stretch): string =>
  `${wordOf(part)} ${exactText(part.end - part.begin)} at ${hexText(part.begin)}${part.name ? `, ${visible(part.name)}` : ''}`;

interface View {
  begin: number;
  end: number;
  name: string;
  owner: string;
  pid: number;
}

// Those of one program and place once, though several lists may name them.
function viewsOn(core: CoreL1, holdings: Holding[]): View[] {
  const found = new Map<string, View>();
  for (const each of holdings) {
    if (each.part !== 'view' || each.address === null || !each.block || !isIn(each.core_set, core)) continue;
    const view = { begin: each.address, end: each.address + each.block, name: `CB ${each.index ?? '?'} of ${each.name ?? each.id}`, owner: each.process, pid: each.pid };
    found.set(`${view.begin} ${view.name} ${view.pid}`, view);
  }
  return [...found.values()].sort((a, b) => b.begin - a.begin);
}

const bufferAt = (part: Stretch, holdings: Holding[]): Holding | undefined =>
  part.kind !== 'buffer' && part.kind !== 'l1_small'
    ? undefined
    : holdings.find((each) => each.kind === 'buffer' && each.address === part.begin && each.pid === part.pid && each.start === part.start);

interface Props {
  core: CoreL1;
  holdings: Holding[]; // L1 buffers and program L1 of the device: they know lines and ages
}

export function L1Column({ core, holdings }: Props) {
  const [marked, setMarked] = useState<number | null>(null);
  const map = core.map ?? [];
  const end = core.l1_bytes ?? map.at(-1)?.end ?? 0;
  if (map.length === 0 || end === 0) return <p class="quiet">The map of this core is not known.</p>;
  const lowest = map.find((part) => part.kind === 'buffer')?.begin ?? null;
  const highest = lowest === null || core.headroom_reserved === null ? null : lowest - core.headroom_reserved;
  const views = viewsOn(core, holdings);
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
        {views.slice(0, MOST_VIEWS).map((view) => (
          <div key={`${view.begin} ${view.name}`} class="l1-a-view" data-view={view.end - view.begin} title={`View, takes nothing: ${visible(view.name)}, ${exactText(view.end - view.begin)} at ${hexText(view.begin)}`}
            style={{ bottom: percent(view.begin, end), height: percent(view.end - view.begin, end) }} />
        ))}
        {lowest !== null && (
          <div class="clash-line" style={{ bottom: percent(lowest, end) }}>
            <span>lowest buffer</span>
          </div>
        )}
        {highest !== null && (
          <div class={highest > lowest! ? 'program-line clashes' : 'program-line'} data-address={highest} style={{ bottom: percent(Math.min(highest, end), end) }}>
            <span>{highest > lowest! ? 'programs clash' : 'programs end'}</span>
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
              <th scope="col">Name, line, process, age</th>
            </tr>
          </thead>
          <tbody>
            {map.map((part, i) => ({ part, i })).reverse().map(({ part, i }) => (
              <Row key={`${part.begin} ${part.kind}`} part={part} of={bufferAt(part, holdings)} marked={marked === i} onMark={(on) => setMarked(on ? i : null)} />
            ))}
          </tbody>
        </table>
        {views.length > 0 && <Views of={views} />}
        <p class="quiet">
          Headroom {bytesText(core.headroom)}; against every program in the cache {bytesText(core.headroom_reserved)}
          {highest !== null && lowest !== null && (
            <>: the largest live program ends at <span class="mono">{hexText(highest)}</span>, the lowest buffer begins at <span class="mono">{hexText(lowest)}</span></>
          )}
          .
        </p>
      </div>
    </div>
  );
}

function Row({ part, of, marked, onMark }: { part: Stretch; of: Holding | undefined; marked: boolean; onMark: (on: boolean) => void }) {
  return (
    <tr class={marked ? 'marked' : undefined} data-kind={part.kind} onMouseEnter={() => onMark(true)} onMouseLeave={() => onMark(false)}>
      <td class="mono">{hexText(part.begin)}</td>
      <td class="what">
        <span class={`swatch fill ${kindOf(part)}`} aria-hidden="true" /> {wordOf(part)}
      </td>
      <td class="number">
        <Bytes value={part.end - part.begin} />
      </td>
      <td class="name">
        <Name of={part.name} none="" />
        <div class="whose">
          {of?.line && <span><Line of={of.line} /></span>}
          {part.owner && <span><Name of={part.pid === null ? part.owner : `${part.owner} ${part.pid}`} /></span>}
          {of && <span>{ageText(of.since_ns, now.peek())}</span>}
        </div>
      </td>
    </tr>
  );
}

function Views({ of }: { of: View[] }) {
  return (
    <details>
      <summary>{of.length === 1 ? 'One view' : `${of.length} views`}: circular buffers that lie in a buffer, and take nothing</summary>
      <table data-table="views">
        <thead>
          <tr><th scope="col">Address</th><th scope="col" class="number">Bytes</th><th scope="col">Name</th><th scope="col">Process</th></tr>
        </thead>
        <tbody>
          {of.map((view) => (
            <tr key={`${view.begin} ${view.name} ${view.pid}`}>
              <td class="mono">{hexText(view.begin)}</td>
              <td class="number"><Bytes value={view.end - view.begin} /></td>
              <td class="name"><Name of={view.name} /></td>
              <td class="name"><Name of={`${view.owner} ${view.pid}`} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
