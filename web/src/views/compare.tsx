// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A frozen moment beside another, or beside now: what came, went and grew, by line.
import { useMemo } from 'preact/hooks';
import { useDocument } from '../live/ask.ts';
import { recording } from '../live/recording.ts';
import { forget, freezeAndCompare, freezeProblem, LINES_PATH, moments, type Moment } from '../live/moments.ts';
import type { OriginsDocument } from '../live/documents.ts';
import { compared, WHATS, type Difference } from '../format/compare.ts';
import { bytesText, clockText, countText, dateText, durationText } from '../format/units.ts';
import { Processes } from '../parts/whose.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Empty, Fact, Line, Problem } from '../parts/text.tsx';
import { parameter, setParameters } from '../route.ts';

const EVERY_MS = 1000;
const KINDS: Record<string, string> = { came: 'warn', grew: 'warn', went: 'good', shrank: 'good', same: '' };
const UNKNOWN = '(not known)';

// Of a recording, one goes back too.
const distance = (ns: number): string => `${durationText(Math.abs(ns))} ${ns < 0 ? 'earlier' : 'later'}`;

const signed = (bytes: number): string => `${bytes > 0 ? '+' : ''}${bytesText(bytes)}`;

const COLUMNS: Column<Difference>[] = [
  { name: 'change', title: 'Change', value: (row) => row.change, width: '6rem', cell: (row) => <Badge kind={KINDS[row.change] ?? ''}>{row.change}</Badge> },
  { name: 'line', title: 'Line', value: (row) => row.name, width: '24rem', cell: (row) => (row.name === null ? UNKNOWN : <Line of={row.name} />) },
  { name: 'difference', title: 'Difference', value: (row) => row.after - row.before, number: true, width: '9rem',
    cell: (row) => <span class="bytes" data-bytes={row.after - row.before} title={`${countText(row.after - row.before)} B`}>{signed(row.after - row.before)}</span> },
  { name: 'before', title: 'Then', value: (row) => row.before, number: true, width: '8rem', cell: (row) => <Bytes value={row.before} /> },
  { name: 'after', title: 'After', value: (row) => row.after, number: true, width: '8rem', cell: (row) => <Bytes value={row.after} /> },
  { name: 'count', title: 'How many', value: (row) => row.buffersAfter - row.buffersBefore, number: true, width: '9rem', cell: (row) => `${countText(row.buffersBefore)} → ${countText(row.buffersAfter)}` },
  { name: 'processes', title: 'Processes', value: (row) => row.processes.map((each) => `${each.process} ${each.pid}`).join(', '), width: '12rem', cell: (row) => <Processes of={row.processes} /> },
];

export const FreezeButton = () => <button type="button" onClick={() => void freezeAndCompare()} title="f">Freeze this moment</button>;

function Chooser({ label, name, value, withNow }: { label: string; name: string; value: string; withNow: boolean }) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => setParameters({ [name]: event.currentTarget.value === 'now' ? null : event.currentTarget.value })}>
        {withNow && <option value="now">{recording.value ? 'the moment shown' : 'now'}</option>}
        {moments.value.map((each) => <option key={each.id} value={each.id}>{clockText(each.time_ns)}</option>)}
      </select>
    </label>
  );
}

export function Compare() {
  const all = moments.value;
  const from = all.find((each) => each.id === parameter('from')) ?? all.at(-1);
  const to = all.find((each) => each.id === parameter('to'));
  const missing = ['from', 'to'].some((name) => parameter(name) !== '' && !all.some((each) => each.id === parameter(name)));
  return (
    <>
      <h1>Compare two moments</h1>
      <Problem text={freezeProblem.value} />
      {missing && <p class="notice">A moment of this link was frozen in another tab: it is kept only there.</p>}
      {from ? <Two from={from} to={to ?? null} /> : (
        <Empty title="No moment is frozen yet.">
          <p>Freeze one, let the model run, and see which lines hold more.</p>
          <p><FreezeButton /></p>
        </Empty>
      )}
    </>
  );
}

function Two({ from, to }: { from: Moment; to: Moment | null }) {
  const live = useDocument<OriginsDocument>(to ? null : LINES_PATH, EVERY_MS).value;
  const after = to?.lines ?? live.data; // null: nobody has told yet what is held now
  const what = WHATS.find((each) => each.name === parameter('of')) ?? WHATS[0]!;
  const rows = useMemo(() => after && compared(from.lines.origins, after.origins, what), [from, after, what]);
  const shown = rows && (parameter('all') ? rows : rows.filter((row) => row.change !== 'same'));
  const before = what.bytes(from.lines.total), now = after && what.bytes(after.total);
  return (
    <>
      <div class="table-head">
        <Chooser label="From" name="from" value={from.id} withNow={false} />
        <Chooser label="to" name="to" value={to?.id ?? 'now'} withNow />
        <label>
          of{' '}
          <select value={what.name} onChange={(event) => setParameters({ of: event.currentTarget.value === 'dram' ? null : event.currentTarget.value })}>
            {WHATS.map((each) => <option key={each.name} value={each.name}>{each.title}</option>)}
          </select>
        </label>
        <label><input type="checkbox" checked={parameter('all') !== ''} onChange={(event) => setParameters({ all: event.currentTarget.checked ? '1' : null })} /> also what stayed the same</label>
        <FreezeButton />
        <button type="button" onClick={() => forget(from.id)}>Forget {clockText(from.time_ns)}</button>
      </div>
      <Problem text={live.problem} note={live.note} />
      <dl class="facts panel">
        <Fact label={`Then, ${dateText(from.time_ns)}`}><Bytes value={before} figure="compare.before" /></Fact>
        <Fact label={after ? `${to ? 'Then' : recording.value ? 'Shown' : 'Now'}, ${distance(after.time_ns - from.time_ns)}` : 'Now'}><Bytes value={now} figure="compare.after" /></Fact>
        <Fact label="Difference">{now === null ? <Bytes value={null} /> : <span class="bytes" data-figure="compare.difference" data-bytes={now - before} title={`${countText(now - before)} B`}>{signed(now - before)}</span>}</Fact>
        {rows && <Fact label="Lines">{['came', 'went', 'grew', 'shrank', 'same'].map((each) => `${rows.filter((row) => row.change === each).length} ${each}`).join(', ')}</Fact>}
      </dl>
      <Table label="differences" noun="line" columns={COLUMNS} rows={shown} rowKey={(row) => row.key} sort="-difference"
        empty="Every line holds what it held." json={LINES_PATH} command="ttmem leaks" />
      <p class="quiet">Of all devices together, and of processes that live. The differences of all lines add up to that of the sums. <code>ttmem leaks</code> follows a model for some steps, and says which lines grow with each.</p>
    </>
  );
}
