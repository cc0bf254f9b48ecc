// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held, by the code that it comes from: whole stacks as a flame graph, and lines, files,
// operations or regions as a table. What came in the last minute is what may be leaking.
import { useDocument } from '../live/ask.ts';
import type { Origin, OriginsDocument } from '../live/documents.ts';
import { Icicle } from '../parts/icicle.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Bytes, Fact, Line, Problem } from '../parts/text.tsx';
import { Processes } from '../parts/whose.tsx';
import { Copy } from '../parts/copy.tsx';
import { FreezeButton } from './compare.tsx';
import { parameter, setParameters } from '../route.ts';
import { WHATS } from '../format/compare.ts';
import { treeOf, zoomed } from '../format/groups.ts';
import { shortLine, visible } from '../format/words.ts';

const EVERY_MS = 2000;
const UNKNOWN = '(not known)';
const SPACES = ['dram', 'l1', 'l1_small', 'trace'] as const;
const BYS: [string, string][] = [['line', 'line'], ['file', 'file'], ['operation', 'operation'], ['region', 'region'], ['stack', 'whole stack']];
const bytes = (name: string, title: string, value: (origin: Origin) => number | null): Column<Origin> => ({
  name, title, number: true, width: '6.6rem', value, cell: (origin) => <Bytes value={value(origin)} />,
});

// Stacks begin alike: the innermost step comes first, so that what tells them apart is not what is cut.
const StackText = ({ of }: { of: Origin }) => (
  <bdi title={visible(of.name ?? '')}>{visible(of.path.map(shortLine).reverse().join(' ← '))}</bdi>
);

const COLUMNS: Column<Origin>[] = [
  { name: 'name', title: 'Where', value: (origin) => origin.name, width: '19rem', cell: (origin) => (origin.name === null ? UNKNOWN : <Line of={origin.name} />) },
  bytes('dram', 'DRAM', (origin) => origin.dram.taken),
  bytes('recent', 'DRAM last min', (origin) => origin.dram.recent),
  bytes('l1', 'L1 buffers', (origin) => origin.l1.taken),
  bytes('l1_recent', 'L1 last min', (origin) => origin.l1.recent),
  bytes('program_l1', 'Program L1', (origin) => origin.program_l1),
  bytes('kernels', 'Kernels', (origin) => origin.kernels),
  { name: 'buffers', title: 'Buffers', value: (origin) => SPACES.reduce((sum, space) => sum + origin[space].buffers, 0), number: true, width: '5.4rem' },
  bytes('peak', 'DRAM at peak', (origin) => origin.dram.at_peak),
  bytes('l1_peak', 'L1 at peak', (origin) => origin.l1.at_peak),
  { name: 'processes', title: 'Processes', value: (origin) => origin.processes.map((each) => `${each.process} ${each.pid}`).join(', '), width: '10.5rem', cell: (origin) => <Processes of={origin.processes} /> },
];

const STACK_COLUMNS = COLUMNS.map((column): Column<Origin> =>
  column.name !== 'name' ? column : { ...column, title: 'Where, innermost first', width: '30rem', cell: (origin) => (origin.name === null ? UNKNOWN : <StackText of={origin} />) });

function scope(): string {
  return ['pid', 'device'].flatMap((name) => (parameter(name) ? `&${name}=${encodeURIComponent(parameter(name))}` : [])).join('');
}

function Stacks() {
  const path = `/api/v1/origins?by=stack${scope()}`;
  const { data, problem, note } = useDocument<OriginsDocument>(path, EVERY_MS).value;
  const what = WHATS.find((each) => each.name === parameter('of')) ?? WHATS[0]!;
  const trail = parameter('stack') ? parameter('stack').split('\n') : [];
  const rows = (data?.origins ?? []).map((origin) => ({ path: origin.path, bytes: what.bytes(origin), count: what.count(origin) }));
  return (
    <section aria-label="Stacks">
      <div class="table-head">
        <label>
          Stacks of{' '}
          <select value={what.name} onChange={(event) => setParameters({ of: event.currentTarget.value === 'dram' ? null : event.currentTarget.value, stack: null })}>
            {WHATS.map((each) => <option key={each.name} value={each.name}>{each.title}</option>)}
          </select>
        </label>
        {trail.length > 0 && <button type="button" onClick={() => setParameters({ stack: null })}>All stacks</button>}
        <span class="quiet">{trail.length > 0 ? visible(trail.at(-1)!) : 'Choose a bar to see only that'}</span>
        <Copy json={path} png name="stacks" />
      </div>
      <Problem text={problem} note={note} />
      {data && (
        <Icicle groups={zoomed(treeOf(rows, UNKNOWN), trail)} label={`${what.title} by stack`}
          onPick={(picked) => setParameters({ stack: [...trail.slice(0, -1), ...picked].join('\n') })} />
      )}
    </section>
  );
}

// The rows add up to these.
const Totals = ({ of }: { of: OriginsDocument['total'] }) => (
  <dl class="facts panel" aria-label="All rows together">
    {WHATS.map((what) => <Fact key={what.name} label={what.title}><Bytes value={what.bytes(of)} figure={`total.${what.name}`} /></Fact>)}
    <Fact label="DRAM that came in the last minute"><Bytes value={of.dram.recent} figure="total.recent" /></Fact>
    <Fact label="L1 that came in the last minute"><Bytes value={of.l1.recent} figure="total.l1_recent" /></Fact>
    <Fact label="What grows"><a class="spaced" href="/leaks">From step to step</a> <FreezeButton /></Fact>
  </dl>
);

export function Origins() {
  const by = parameter('by') || 'line';
  const path = `/api/v1/origins?by=${by}${scope()}`;
  const { data, problem, note } = useDocument<OriginsDocument>(path, EVERY_MS).value;
  return (
    <>
      <h1>Origins {parameter('pid') && <span class="quiet">of process {parameter('pid')} <a class="small" href="/origins">of all</a></span>}</h1>
      <Stacks />
      <h2>By {BYS.find(([name]) => name === by)?.[1] ?? by}</h2>
      <div class="tabs" role="group" aria-label="By what">
        {BYS.map(([name, title]) => (
          <button key={name} type="button" class="tab" aria-pressed={by === name} onClick={() => setParameters({ by: name === 'line' ? null : name })}>{title}</button>
        ))}
      </div>
      <Problem text={problem} note={note} />
      {data && <Totals of={data.total} />}
      <Table label="origins" noun="row" columns={by === 'stack' ? STACK_COLUMNS : COLUMNS} rows={data?.origins ?? null} rowKey={(origin) => `${origin.name} ${origin.pids.join(' ')}`}
        sort="-dram" empty="No living process holds anything." json={path} command={`ttmem status --by ${by}`} />
    </>
  );
}
