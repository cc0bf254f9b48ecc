// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Who held a space when it was fullest: whole stacks as a flame graph, and lines as a table.
import { useState } from 'preact/hooks';
import { Icicle } from '../parts/icicle.tsx';
import { Bytes, Line } from '../parts/text.tsx';
import { treeOf, zoomed } from '../format/groups.ts';
import { bytesText, clockText, countText, nounText, percentText } from '../format/units.ts';
import { SPACE_WORDS, visible } from '../format/words.ts';
import type { ReportDocument, SpacePeak } from './documents.ts';

const UNKNOWN = '(not known)';

export function Holders({ of }: { of: ReportDocument }) {
  if (of.peaks.length === 0) return <p class="quiet">No buffer was held.</p>;
  return <>{of.peaks.map((peak) => <OneSpace key={peak.space} peak={peak} recorded={of.recorded} />)}</>;
}

function OneSpace({ peak, recorded }: { peak: SpacePeak; recorded: boolean }) {
  const [trail, setTrail] = useState<string[]>([]);
  const title = SPACE_WORDS[peak.space] ?? peak.space;
  const when = peak.time_ns === null ? 'when each process was fullest' : recorded ? `at ${clockText(peak.time_ns)}` : 'now';
  const rows = peak.stacks.rows.map((each) => ({ path: each.path, bytes: each.bytes, count: each.buffers ?? 0 }));
  if (peak.stacks.other_bytes > 0) rows.push({ path: [`${countText(peak.stacks.others)} more stacks`], bytes: peak.stacks.other_bytes, count: 0 });
  return (
    <section class="panel" aria-label={`Who holds ${title}`} data-space={peak.space}>
      <h3>{title}: <Bytes value={peak.bytes} figure={`${peak.space}.peak`} /> <span class="quiet">{peak.capacity !== null && `of ${bytesText(peak.capacity)}, ${percentText(peak.bytes, peak.capacity)}, `}{when}</span></h3>
      <div class="table-head">
        <span class="quiet">{trail.length > 0 ? visible(trail.at(-1)!) : 'By stack: choose a bar to see only that'}</span>
        {trail.length > 0 && <button type="button" class="small" onClick={() => setTrail([])}>All stacks</button>}
      </div>
      <Icicle groups={zoomed(treeOf(rows, UNKNOWN), trail)} label={`${title} by stack`} onPick={(picked) => setTrail([...trail.slice(0, -1), ...picked])} />
      <div class="wide" tabIndex={0} role="group" aria-label={`${title} by line`}>
        <table class="plain-table">
          <thead>
            <tr><th scope="col" class="number">Bytes</th><th scope="col" class="number">Part</th><th scope="col" class="number">Buffers</th><th scope="col">Line</th></tr>
          </thead>
          <tbody>
            {peak.lines.rows.map((row) => (
              <tr key={row.name}>
                <td class="number"><Bytes value={row.bytes} /></td>
                <td class="number">{percentText(row.bytes, peak.bytes)}</td>
                <td class="number">{countText(row.buffers)}</td>
                <td>{row.name === null ? <span class="quiet">{UNKNOWN}</span> : <Line of={row.name} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {peak.lines.others > 0 && <p class="quiet">And {nounText(peak.lines.others, 'more line')}: {bytesText(peak.lines.other_bytes)}.</p>}
    </section>
  );
}
