// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which program ran when: a strip of the last minutes per program. The brighter, the more launches; a
// sign where something else happened. What nobody watched is hatched.
import type { LaunchesDocument, ProgramLaunches } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { countText } from '../format/units.ts';
import { Name } from './text.tsx';

const SECONDS = 300, MOST_ROWS = 40, NS = 1e9;

// What is worse hides what is not.
const SIGNS: [string, string, string][] = [
  ['failure', '!', 'failure'],
  ['reload', 'r', 'reload'],
  ['eviction', 'x', 'eviction'],
  ['first_load', '+', 'first load'],
];

const total = (program: ProgramLaunches): number => program.intervals.reduce((sum, each) => sum + each.launches, 0);

// Ten launches and ten thousand are both to be seen.
const brightness = (launches: number, most: number): number => (launches === 0 ? 0 : 0.15 + 0.85 * (Math.log1p(launches) / Math.log1p(most)));

function Strip({ program, end, most }: { program: ProgramLaunches; end: number; most: number }) {
  const begin = end - SECONDS;
  const since = Math.max(0, Math.min(SECONDS, (program.since_ns ?? end * NS) / NS - begin));
  const replays = program.intervals.reduce((sum, each) => sum + each.replays, 0);
  const label = `${countText(total(program))} launches in five minutes, ${countText(replays)} of them replays of traces`;
  return (
    <svg class="timeline-strip" viewBox={`0 0 ${SECONDS} 10`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="unwatched" x={0} y={0} width={since} height={10} />
      {program.intervals.map((each) => {
        const x = each.time_ns / NS - begin;
        if (x < 0) return null;
        return <rect key={each.time_ns} class="launches" data-launches={each.launches} x={x} y={0} width={1.05} height={10} opacity={brightness(each.launches, most)} />;
      })}
    </svg>
  );
}

function Signs({ program, end }: { program: ProgramLaunches; end: number }) {
  const begin = end - SECONDS;
  return (
    <>
      {program.intervals.map((each) => {
        const sign = SIGNS.find(([mark]) => each.marks.includes(mark));
        const x = each.time_ns / NS - begin;
        if (!sign || x < 0) return null;
        return (
          <span key={each.time_ns} class={`timeline-sign ${sign[0]}`} data-mark={sign[0]} title={sign[2]} style={{ left: `${(100 * x) / SECONDS}%` }}>
            {sign[1]}
          </span>
        );
      })}
    </>
  );
}

export function Timeline({ document }: { document: LaunchesDocument | null }) {
  const programs = (document?.programs ?? [])
    .map((program) => ({ program, sum: total(program) }))
    .filter(({ program, sum }) => sum > 0 || program.intervals.length > 0)
    .sort((a, b) => (b.program.recent_per_second ?? 0) - (a.program.recent_per_second ?? 0) || b.sum - a.sum);
  if (!document || programs.length === 0) return <p class="quiet">No program was launched in the last five minutes, while the daemon watched.</p>;
  const end = Math.ceil(document.time_ns / NS);
  const shown = programs.slice(0, MOST_ROWS);
  const most = Math.max(1, ...shown.flatMap(({ program }) => program.intervals.map((each) => each.launches)));
  return (
    <div class="timeline" data-picture>
      {shown.map(({ program }) => (
        <div key={`${processKey(program)} ${program.id} ${program.devices.join()}`} class="timeline-row" data-program={program.id}>
          <span class="timeline-name"><Name of={program.name} none={program.id} /></span>
          <span class="timeline-rate">{program.recent_per_second === null ? '?' : `${program.recent_per_second.toFixed(1)}/s`}</span>
          <span class="timeline-time">
            <Strip program={program} end={end} most={most} />
            <Signs program={program} end={end} />
          </span>
        </div>
      ))}
      <p class="quiet">
        The last five minutes, a second per step; now is at the right. {SIGNS.map(([, sign, word]) => `${sign} ${word}`).reverse().join(', ')}.
        {programs.length > shown.length && ` The ${MOST_ROWS} fastest of ${programs.length}.`}
      </p>
    </div>
  );
}
