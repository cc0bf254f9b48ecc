// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The programs that were there whenever somebody looked, and when the most launched ones ran.
import { Timeline } from '../parts/timeline.tsx';
import { Bytes, Line, Name } from '../parts/text.tsx';
import { countText, nounText } from '../format/units.ts';
import { processKey } from '../live/merge.ts';
import type { ReportDocument } from './documents.ts';

const SHOWN = 20; // at first

export function Programs({ of }: { of: ReportDocument }) {
  if (of.programs.length === 0) return <p class="quiet">No program was seen.</p>;
  const rest = of.programs.slice(SHOWN);
  return (
    <>
      {of.launches.programs.length > 0 && <Timeline document={of.launches} moving={!of.recorded} />}
      <Rows of={of.programs.slice(0, SHOWN)} label="Programs" />
      {rest.length > 0 && <details><summary>{nounText(rest.length, 'more program')}</summary><Rows of={rest} label="More programs" /></details>}
      {of.other_programs > 0 && <p class="quiet">And {nounText(of.other_programs, 'program')} with less L1.</p>}
    </>
  );
}

const Rows = ({ of, label }: { of: ReportDocument['programs']; label: string }) => (
  <div class="wide" tabIndex={0} role="group" aria-label={label}>
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">Program</th><th scope="col" class="number">Program L1</th><th scope="col" class="number">Fullest core</th><th scope="col" class="number">Cores</th><th scope="col" class="number">Kernels</th>
          <th scope="col" class="number">Launches</th><th scope="col" class="number">Replays</th><th scope="col" class="number">Reloads</th><th scope="col">Process</th><th scope="col">Line</th>
        </tr>
      </thead>
      <tbody>
        {of.map((program) => (
          <tr key={`${processKey(program)} ${program.id} ${program.devices.join()}`} data-program={program.id}>
            <td><Name of={program.name} none={program.id} /></td>
            <td class="number"><Bytes value={program.l1_allocated} /></td>
            <td class="number"><Bytes value={program.l1_largest_core} /></td>
            <td class="number">{countText(program.cores)}</td>
            <td class="number"><Bytes value={program.footprint} /></td>
            <td class="number">{countText(program.dispatches)}</td>
            <td class="number">{countText(program.replays)}</td>
            <td class="number">{countText(program.reloads)}</td>
            <td><Name of={program.process} /> {program.pid}</td>
            <td><Line of={program.line} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
