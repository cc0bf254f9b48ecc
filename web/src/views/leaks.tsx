// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What grows from step to step, as `ttmem leaks` tells it: since the daemon runs, so nobody has to wait.
import { useDocument } from '../live/ask.ts';
import type { LeaksDocument, LeakSuspect } from '../live/growth.ts';
import { CopyCommand } from '../parts/copy.tsx';
import { path } from '../parts/alarms.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Empty, Line, Name, Problem } from '../parts/text.tsx';
import { ageText, countText, hexText, nounText, rateText } from '../format/units.ts';
import { SPACE_WORDS } from '../format/words.ts';
import { recording } from '../live/recording.ts';
import { FreezeButton } from './compare.tsx';

const EVERY_MS = 2000, PATH = '/api/v1/leaks';

const perStep = (value: number): string => (Number.isInteger(value) ? countText(value) : rateText(value));
const Owner = ({ of }: { of: { pid: number; start: number; process: string } }) => <a href={path(of)}><Name of={of.process} /> {of.pid}</a>;

const columns = (time_ns: number): Column<LeakSuspect>[] => [
  { name: 'line', title: 'Line', value: (each) => each.line, width: '17rem', cell: (each) => <Line of={each.line} /> },
  { name: 'op', title: 'Operation', value: (each) => each.operation, width: '8.5rem', cell: (each) => <Name of={each.operation} /> },
  { name: 'grows', title: 'Per step', value: (each) => each.taken_per_step, number: true, width: '6.5rem', cell: (each) => <Bytes value={Math.round(each.taken_per_step)} /> },
  { name: 'until_full', title: 'Full after', value: (each) => each.steps_until_full, number: true, width: '8.5rem',
    cell: (each) => (each.steps_until_full === null ? '?' : <span data-count={each.steps_until_full}>{nounText(Math.floor(each.steps_until_full), 'step')}</span>) },
  { name: 'count', title: 'Left over', value: (each) => each.count, number: true, width: '6rem', cell: (each) => countText(each.count) },
  { name: 'size', title: 'Each, per bank', value: (each) => each.block, number: true, width: '7rem', cell: (each) => <Bytes value={each.block} /> },
  { name: 'space', title: 'Where', value: (each) => each.space, width: '7rem', cell: (each) => SPACE_WORDS[each.space] ?? each.space },
  { name: 'device', title: 'Device', value: (each) => each.device, number: true, width: '5.5rem', cell: (each) => <a href={`/d/${each.device}`}>{each.device}</a> },
  { name: 'age', title: 'Oldest', value: (each) => each.oldest_ns, number: true, width: '6.5rem', cell: (each) => ageText(each.oldest_ns, time_ns) },
  { name: 'process', title: 'Process', value: (each) => `${each.process} ${each.pid}`, width: '9.5rem', cell: (each) => <Owner of={each} /> },
  { name: 'region', title: 'Region', value: (each) => each.region, width: '7rem', cell: (each) => <Name of={each.region} /> },
];

export function Leaks() {
  const { data, problem, note } = useDocument<LeaksDocument>(recording.value ? null : PATH, EVERY_MS).value;
  return (
    <>
      <h1>What grows</h1>
      {recording.value ? <p>A recording is followed by <CopyCommand text={`ttmem leaks --from ${recording.value.file ?? 'FILE'}`} /></p> : <Problem text={problem} note={note} />}
      {data && data.processes.length === 0 && <NoSteps />}
      {data && data.processes.length > 0 && <Found of={data} />}
      <p class="quiet">Between any two moments: <FreezeButton /></p>
    </>
  );
}

const NoSteps = () => (
  <Empty title="No step of a model was seen yet.">
    <p>A leak is what is left over after each step. Steps are found from operations that repeat; a program can also say where they are:</p>
    <p><CopyCommand text="import ttmem; ttmem.step()" /></p>
  </Empty>
);

const State = ({ of }: { of: LeaksDocument }) => (
  <section class="panel" aria-label="Processes that are followed">
    <h2>Followed</h2>
    <ul>
      {of.processes.map((each) => (
        <li key={path(each)}>
          <Owner of={each} />: {nounText(each.steps, 'step')}, {each.steps_from === 'marks' ? 'as the program marks them' : 'found from the operations that repeat'}{' '}
          {!each.known && <Badge title="a few steps more are needed to tell what grows">too few yet</Badge>}
        </li>
      ))}
    </ul>
  </section>
);

function Found({ of }: { of: LeaksDocument }) {
  const known = of.processes.some((each) => each.known);
  return (
    <>
      <Table label="suspects" noun="suspect" columns={columns(of.time_ns)} rows={of.suspects} sort="-grows" json={PATH} command="ttmem leaks"
        rowKey={(each) => `${path(each)} ${each.segment} ${each.device} ${each.space} ${each.operation} ${each.line} ${each.region} ${each.block}`}
        empty={known ? 'Nothing grows from step to step.' : 'Too few steps were seen to tell what grows.'} />
      <div class="panels">
        <State of={of} />
        {of.falling_l1.length > 0 && (
          <section class="panel" aria-label="L1 that falls">
            <h2>The lowest L1 address falls</h2>
            <ul>
              {of.falling_l1.map((each) => (
                <li key={`${path(each)} ${each.device}`}>
                  <Owner of={each} /> on <a href={`/d/${each.device}`}>device {each.device}</a>: from <span class="mono">{hexText(each.first)}</span> to <span class="mono">{hexText(each.last)}</span>,{' '}
                  by <Bytes value={Math.round(each.bytes_per_step)} /> per step. It will clash with programs.
                </li>
              ))}
            </ul>
          </section>
        )}
        {of.growing_lines.length > 0 && (
          <section class="panel" aria-label="Lines that grew now and then">
            <h2>Grew now and then, and never fell</h2>
            <ul>
              {of.growing_lines.map((each) => (
                <li key={`${path(each)} ${each.device} ${each.space} ${each.operation} ${each.line} ${each.region}`}>
                  <Owner of={each} /> on <a href={`/d/${each.device}`}>device {each.device}</a>: {each.operation} {each.line ?? 'an unknown line'} by <Bytes value={each.taken} /> in{' '}
                  {nounText(each.steps, 'step')}
                </li>
              ))}
            </ul>
          </section>
        )}
        {of.growing_caches.length > 0 && (
          <section class="panel" aria-label="Program caches that grow">
            <h2>New programs in every step</h2>
            <ul>
              {of.growing_caches.map((each) => (
                <li key={`${path(each)} ${each.device}`}>
                  <Owner of={each} /> on <a href={`/d/${each.device}`}>device {each.device}</a>: {nounText(each.programs, 'program')}, {perStep(each.programs_per_step)} more per step
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </>
  );
}
