// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The programs in the caches: how large, where, how often launched, how often written again.
import { useDocument } from '../live/ask.ts';
import { now } from '../live/live.ts';
import type { Figure, LaunchesDocument, Program } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { recording } from '../live/recording.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Badge, Bytes, Line, Name, Problem } from '../parts/text.tsx';
import { Copy } from '../parts/copy.tsx';
import { ageText, countText, rateText } from '../format/units.ts';
import { csvText } from '../format/csv.ts';
import { Kernels } from './kernels.tsx';

const EVERY_MS = 2000, LAUNCHES = '/api/v1/programs/all/launches';
const NONE: Program[] = [];

// A program is loaded once on each of its devices; later loads are reloads.
const firstLoads = (program: Program): Figure => (program.dispatches === null ? null : program.loaded ? 1 : 0);

// A launch of a program that is not there any more writes it again.
const inRing = (program: Program): string => (program.in_ring === null ? '?' : program.in_ring ? 'there' : program.loaded ? 'left' : '-');

const COLUMNS: Column<Program>[] = [
  { name: 'name', title: 'Program', value: (program) => program.name, width: '14rem', cell: (program) => <Name of={program.name} none={program.id} /> },
  { name: 'type', title: 'Type', value: (program) => program.type, width: '6.5rem', spare: 3 },
  { name: 'state', title: 'State', value: (program) => (program.loaded ? 'loaded' : 'registered'), width: '6.5rem',
    cell: (program) => (program.loaded ? <Badge kind="good">loaded</Badge> : <Badge title={program.dispatches === null ? 'nobody tells when it is launched' : 'never launched: it counts no byte'}>registered</Badge>) },
  { name: 'footprint', title: 'Kernels', value: (program) => program.footprint, number: true, width: '6.5rem', cell: (program) => <Bytes value={program.footprint} /> },
  { name: 'l1', title: 'Program L1', value: (program) => program.l1_allocated, number: true, width: '6.5rem', cell: (program) => <Bytes value={program.l1_allocated} /> },
  { name: 'core_l1', title: 'Fullest core', value: (program) => program.l1_largest_core, number: true, width: '6.5rem', spare: 5, cell: (program) => <Bytes value={program.l1_largest_core} /> },
  { name: 'ring', title: 'Slice of the ring', value: (program) => program.config_bytes['tensix'] ?? null, number: true, width: '6.5rem', spare: 7, cell: (program) => <Bytes value={program.config_bytes['tensix']} /> },
  { name: 'in_ring', title: 'In the ring', value: (program) => inRing(program), width: '5rem', spare: 9 },
  { name: 'cores', title: 'Cores', value: (program) => program.cores, number: true, width: '5rem', spare: 4 },
  { name: 'launches', title: 'Launches', value: (program) => program.dispatches, number: true, width: '6.5rem', cell: (program) => countText(program.dispatches) },
  { name: 'rate', title: 'Per second', value: (program) => program.dispatches_per_second, number: true, width: '6rem', spare: 2, cell: (program) => (program.dispatches === null ? '?' : program.dispatches_per_second === null ? '-' : rateText(program.dispatches_per_second)) },
  { name: 'now', title: 'Now', value: (program) => program.recent_per_second, number: true, width: '6rem', cell: (program) => (program.recent_per_second === null ? '?' : `${rateText(program.recent_per_second)}/s`) },
  { name: 'replays', title: 'Replays', value: (program) => program.replays, number: true, width: '5.5rem', spare: 6, cell: (program) => countText(program.replays) },
  { name: 'first_loads', title: 'First loads', value: firstLoads, number: true, width: '5rem', spare: 10, cell: (program) => countText(firstLoads(program)) },
  { name: 'hits', title: 'Hits', value: (program) => program.cache_hits, number: true, width: '5.5rem', spare: 8, cell: (program) => countText(program.cache_hits) },
  { name: 'reloads', title: 'Reloads', value: (program) => program.reloads, number: true, width: '5.5rem', cell: (program) => countText(program.reloads) },
  { name: 'last', title: 'Last launch', value: (program) => program.last_dispatch_ns, number: true, width: '7.5rem', cell: (program) => (program.dispatches === null ? '?' : program.last_dispatch_ns === null ? 'never' : `${ageText(program.last_dispatch_ns, now.peek())} ago`) },
  { name: 'process', title: 'Process', value: (program) => program.process, width: '8.5rem', cell: (program) => <Name of={program.process} /> },
  { name: 'pid', title: 'PID', value: (program) => program.pid, number: true, width: '5rem' },
  { name: 'line', title: 'Line', value: (program) => program.line, width: '14rem', cell: (program) => <Line of={program.line} /> },
];

const launchesCsv = (of: LaunchesDocument | null): string =>
  csvText([['program', 'name', 'pid', 'time_ns', 'launches', 'replays', 'marks'], ...(of?.programs ?? []).flatMap((program) =>
    program.intervals.map((each) => [program.id, program.name, program.pid, each.time_ns, each.launches, each.replays, each.marks.join(' ')]))]);

export function Programs() {
  const { data, problem, note } = useDocument<{ programs: Program[] }>('/api/v1/programs', EVERY_MS).value;
  const launches = useDocument<LaunchesDocument>(LAUNCHES, EVERY_MS).value;
  return (
    <>
      <h1>Programs</h1>
      <Problem text={problem ?? launches.problem} note={note} />
      <section aria-label="Which program ran when">
        <div class="table-head"><h2>Which ran when</h2><Copy json={LAUNCHES} csv={() => launchesCsv(launches.data)} png name="launches" /></div>
        <Timeline document={launches.data} moving={!recording.value} />
      </section>
      <h2>All programs</h2>
      <Table label="programs" noun="program" columns={COLUMNS} rows={data?.programs ?? null} rowKey={(program) => `${processKey(program)} ${program.id}`}
        sort="-l1" empty="No live program." json="/api/v1/programs" command="ttmem status --programs" />
      <Kernels programs={data?.programs ?? NONE} />
    </>
  );
}
