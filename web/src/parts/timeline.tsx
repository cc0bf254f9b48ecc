// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Which program ran when: a strip of the last minutes per program. The brighter, the more launches; a
// sign where something else happened. What nobody watched is hatched.
import type { LaunchesDocument, ProgramLaunches } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { countText, rateText } from '../format/units.ts';
import { Name, Unanswered } from './text.tsx';

const SECONDS = 300, MOST_ROWS = 40, NS = 1e9;

const APART = 8; // seconds: signs that are nearer would lie on each other

// What is worse hides what is not.
const SIGNS: [string, string, string][] = [
  ['failure', '!', 'failure'],
  ['reload', 'r', 'reload'],
  ['eviction', 'x', 'eviction'],
  ['first_load', '+', 'first load'],
];

interface Signed {
  x: number;
  sign: (typeof SIGNS)[number];
}

const signsOf = (program: ProgramLaunches, begin: number): Signed[] =>
  program.intervals.flatMap((each) => {
    const sign = SIGNS.find(([mark]) => each.marks.includes(mark)), x = each.time_ns / NS - begin;
    return sign && x >= 0 ? [{ x, sign }] : [];
  });

// The worst first, then in time, as far as there is room for their letters; each has a tick in the strip all the same.
function readable(signs: Signed[]): Signed[] {
  const shown: Signed[] = [];
  for (const each of [...signs].sort((a, b) => SIGNS.indexOf(a.sign) - SIGNS.indexOf(b.sign) || a.x - b.x)) {
    if (shown.every((one) => Math.abs(one.x - each.x) >= APART)) shown.push(each);
  }
  return shown;
}

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
      {signsOf(program, begin).map(({ x, sign }) => <rect key={`mark ${x}`} class={`mark ${sign[0]}`} data-tick={sign[0]} x={x} y={8} width={1.05} height={2} />)}
    </svg>
  );
}

function Signs({ program, end }: { program: ProgramLaunches; end: number }) {
  const begin = end - SECONDS;
  return (
    <>
      {readable(signsOf(program, begin)).map(({ x, sign: [mark, letter, word] }) => (
        <span key={x} class={`timeline-sign ${mark}`} data-mark={mark} title={word} style={{ left: `${(100 * x) / SECONDS}%` }}>{letter}</span>
      ))}
    </>
  );
}

const marked = (program: ProgramLaunches, mark: string): number => program.intervals.filter((each) => each.marks.includes(mark)).length;

const AsTable = ({ programs }: { programs: ProgramLaunches[] }) => (
  <details>
    <summary>As a table</summary>
    <table class="plain-table">
      <thead>
        <tr><th scope="col">Program</th><th scope="col" class="number">Launches</th><th scope="col" class="number">of them replays</th>{SIGNS.map(([mark, , word]) => <th key={mark} scope="col" class="number">Seconds with a {word}</th>)}</tr>
      </thead>
      <tbody>
        {programs.map((program) => (
          <tr key={`${processKey(program)} ${program.id}`}>
            <td><Name of={program.name} none={program.id} /></td>
            <td class="number">{countText(total(program))}</td>
            <td class="number">{countText(program.intervals.reduce((sum, each) => sum + each.replays, 0))}</td>
            {SIGNS.map(([mark]) => <td key={mark} class="number">{marked(program, mark)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  </details>
);

export function Timeline({ document, moving }: { document: LaunchesDocument | null; moving: boolean }) {
  const programs = (document?.programs ?? [])
    .map((program) => ({ program, sum: total(program) }))
    .filter(({ program, sum }) => sum > 0 || program.intervals.length > 0)
    .sort((a, b) => (b.program.recent_per_second ?? 0) - (a.program.recent_per_second ?? 0) || b.sum - a.sum);
  if (!document) return <Unanswered />;
  if (programs.length === 0) return <p class="quiet">No program was launched in the last five minutes, while the daemon watched.</p>;
  const end = Math.ceil(document.time_ns / NS);
  const shown = programs.slice(0, MOST_ROWS), several = new Set(shown.map(({ program }) => program.pid)).size > 1;
  const most = Math.max(1, ...shown.flatMap(({ program }) => program.intervals.map((each) => each.launches)));
  return (
    <>
    <div class="timeline" data-picture>
      {shown.map(({ program }) => (
        <div key={`${processKey(program)} ${program.id} ${program.devices.join()}`} class="timeline-row" data-program={program.id}>
          <span class="timeline-name"><Name of={program.name} none={program.id} />{several && <span class="quiet"> {program.pid}</span>}</span>
          <span class="timeline-rate">{program.recent_per_second === null ? '?' : `${rateText(program.recent_per_second)}/s`}</span>
          <span class="timeline-time">
            <Strip program={program} end={end} most={most} />
            <Signs program={program} end={end} />
          </span>
        </div>
      ))}
      <p class="quiet">
        The last five minutes, a second per step; {moving ? 'now' : 'the moment that is shown'} is at the right. {SIGNS.map(([, sign, word]) => `${sign} ${word}`).reverse().join(', ')}.
        {programs.length > shown.length && ` The ${MOST_ROWS} fastest of ${programs.length}.`}
      </p>
    </div>
    <AsTable programs={programs.map(({ program }) => program)} />
    </>
  );
}
