// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Everything that is held: buffers, programs, kernels, program L1, traces.
import { ask, useDocument } from '../live/ask.ts';
import { now } from '../live/live.ts';
import type { Holding, HoldingsDocument } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Bytes, Line, Name, Problem } from '../parts/text.tsx';
import { parameter, setParameters } from '../route.ts';
import { ageText, countText, hexText, rangesText } from '../format/units.ts';
import { spaced, SPACE_WORDS } from '../format/words.ts';

const PAGE = 10_000, MOST = 50_000, EVERY_MS = 2000;

export interface Loaded {
  holdings: Holding[];
  total: number;
}

// In pages; more than MOST would be no list to read, but a reason to narrow it.
export async function loadHoldings(path: string, signal: AbortSignal): Promise<Loaded> {
  const holdings: Holding[] = [];
  let total = 0, cursor: string | null = null;
  do {
    const page: HoldingsDocument = await ask(`${path}&limit=${Math.min(PAGE, MOST - holdings.length)}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`, signal);
    holdings.push(...page.holdings);
    total = page.total;
    cursor = page.next;
  } while (cursor && holdings.length < MOST);
  return { holdings, total };
}

const size = (holding: Holding): number | null => holding.taken ?? holding.footprint ?? holding.block;

export const HOLDING_COLUMNS: Column<Holding>[] = [
  { name: 'kind', title: 'Kind', value: (holding) => holding.kind, width: '5.5rem', cell: (holding) => (holding.kind === 'range' ? 'program L1' : holding.kind) },
  { name: 'space', title: 'Where', value: (holding) => holding.space, width: '5rem', cell: (holding) => (holding.space ? (SPACE_WORDS[holding.space] ?? holding.space) : '-') },
  { name: 'size', title: 'Per device', value: size, number: true, width: '7rem', cell: (holding) => <><Bytes value={size(holding)} />{holding.estimated && <span class="quiet" title="an estimate, in no total"> (est)</span>}</> },
  { name: 'requested', title: 'Requested', value: (holding) => holding.requested, number: true, width: '7.5rem', spare: 2, cell: (holding) => (holding.requested === null ? '-' : <Bytes value={holding.requested} />) },
  { name: 'op', title: 'Operation', value: (holding) => holding.operation ?? holding.name, width: '13rem', cell: (holding) => <Name of={holding.operation ?? holding.name} /> },
  { name: 'line', title: 'Line', value: (holding) => holding.line ?? holding.source, width: '16.5rem', cell: (holding) => <Line of={holding.line ?? holding.source} /> },
  { name: 'process', title: 'Process', value: (holding) => holding.process, width: '9rem', cell: (holding) => <a href={`/p/${holding.pid}-${holding.start}`}><Name of={holding.process} /></a> },
  { name: 'pid', title: 'PID', value: (holding) => holding.pid, number: true, width: '5rem' },
  { name: 'devices', title: 'Devices', value: (holding) => rangesText(holding.devices), width: '5.5rem' },
  { name: 'layout', title: 'Layout', value: (holding) => holding.layout ?? holding.part ?? holding.processor, width: '8rem', spare: 4, cell: (holding) => spaced(holding.layout ?? holding.part ?? holding.processor ?? '-') },
  { name: 'address', title: 'Address', value: (holding) => holding.address, number: true, width: '7.5rem', spare: 3, cell: (holding) => <span class="mono">{holding.address === null ? '-' : hexText(holding.address)}</span> },
  { name: 'cores', title: 'Cores', value: (holding) => holding.cores, number: true, width: '5rem', spare: 5 },
  { name: 'age', title: 'Age', value: (holding) => (holding.since_ns === null ? null : (now.peek() - holding.since_ns) / 1e9), number: true, width: '6.5rem', spare: 1, cell: (holding) => ageText(holding.since_ns, now.peek()) },
];

const EXTRA = {
  id: (holding: Holding) => holding.id,
  name: (holding: Holding) => holding.name,
  alive: (holding: Holding) => String(holding.alive),
  estimated: (holding: Holding) => String(holding.estimated),
  block: (holding: Holding) => holding.block,
};

const keyOf = (holding: Holding): string => `${processKey(holding)} ${holding.kind} ${holding.id} ${holding.index ?? ''} ${holding.space ?? ''} ${holding.processor ?? ''}`;

const CHOICES: [string, string][] = [
  ['kind=buffer', 'Buffers'],
  ['kind=buffer&space=dram', 'DRAM buffers'],
  ['kind=buffer&space=l1', 'L1 buffers'],
  ['kind=program', 'Programs'],
  ['kind=range', 'Program L1'],
  ['kind=kernel', 'Kernels'],
  ['kind=trace', 'Traces'],
  ['', 'Everything'],
];

export function HoldingsTable({ scope, command }: { scope: string; command: string }) {
  const chosen = parameter('show') || CHOICES[0]![0];
  const query = chosen === 'all' ? '' : chosen;
  const path = `/api/v1/holdings?${[scope, query].filter((each) => each).join('&')}`;
  const { data, problem, note } = useDocument<Loaded>(path, EVERY_MS, loadHoldings).value;
  const rows = data?.holdings ?? [];
  return (
    <>
      <div class="tabs" role="group" aria-label="Which holdings">
        {CHOICES.map(([value, title]) => (
          <button key={value} type="button" class="tab" aria-pressed={query === value} onClick={() => setParameters({ show: value === CHOICES[0]![0] ? null : value || 'all' })}>
            {title}
          </button>
        ))}
      </div>
      <Problem text={problem} note={note} />
      {data && data.total > rows.length && (
        <p class="problem">
          The first {countText(rows.length)} of {countText(data.total)}: choose a device, a process or a kind to see the others.
        </p>
      )}
      <Table label="holdings" noun="holding" columns={HOLDING_COLUMNS} rows={data?.holdings ?? null} rowKey={keyOf} sort="-size" extra={EXTRA}
        rowClass={(holding) => (holding.alive ? '' : 'ended')} empty="Nothing is held here." json={path} command={command} />
    </>
  );
}

export const Holdings = () => (
  <>
    <h1>Holdings</h1>
    <HoldingsTable scope="" command="ttmem dump" />
  </>
);
