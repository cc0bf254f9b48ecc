// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// All processes, the living and those whose black box is still there.
import { allProcesses, now } from '../live/live.ts';
import type { Process } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { failurePath, path } from '../parts/alarms.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Name, Taken } from '../parts/text.tsx';
import { ageText, countText, dateText, rangesText } from '../format/units.ts';
import { KIND_WORDS } from '../format/words.ts';

export const processPath = path;

export function State({ of }: { of: Process }) {
  if (of.alive) return of.tracking.disconnected ? <Badge kind="warn">disconnected</Badge> : <Badge kind="good">running</Badge>;
  return <Badge kind={of.ended === 'died' ? 'bad' : ''}>{of.ended ?? 'ended'}</Badge>;
}

export function Quality({ of }: { of: Process }) {
  const { exact, partial, difference_bytes, unrecorded } = of.tracking;
  if (exact === false) return <Badge kind="bad" title={`differs by ${difference_bytes ?? '?'} B`}>differs</Badge>;
  if (unrecorded > 0) return <Badge kind="bad">{countText(unrecorded)} not recorded</Badge>;
  if (partial) return <Badge kind="warn" title="what happened before ttmem joined is not known">partial</Badge>;
  if (exact) return <Badge kind="good" title="the runtime's own statistics agree, to the byte">exact</Badge>;
  return <Badge title="the runtime's own statistics were not asked">not audited</Badge>;
}

const deviceList = (process: Process): string => rangesText(process.devices.filter((each) => each.open).map((each) => each.id));

function age(process: Process): string {
  if (process.alive) return ageText(process.started_ns, now.value);
  // Who died before anybody looked: when is not known.
  if (process.ended_ns === null) return '?';
  return ageText(process.started_ns, process.ended_ns);
}

const bytes = (name: keyof Process['held'], title: string, requested?: keyof Process['held']): Column<Process> => ({
  name, title, number: true, width: name === 'program_l1' ? '7.8rem' : '7rem',
  value: (process) => process.held[name],
  cell: (process) => <Taken value={process.held[name]} requested={requested ? process.held[requested] : null} figure={`held.${name}`} />,
});

const COLUMNS: Column<Process>[] = [
  { name: 'name', title: 'Process', value: (process) => process.name, width: '9rem',
    cell: (process) => <a href={processPath(process)}><Name of={process.name} /></a> },
  { name: 'pid', title: 'PID', value: (process) => process.pid, number: true, width: '4.6rem' },
  { name: 'user', title: 'User', value: (process) => process.user ?? String(process.uid), width: '6rem',
    cell: (process) => <Name of={process.user ?? String(process.uid)} /> },
  { name: 'state', title: 'State', value: (process) => (process.alive ? 'running' : process.ended), cell: (process) => <State of={process} />, width: '6.5rem' },
  { name: 'devices', title: 'Devices', value: deviceList, width: '6rem', cell: (process) => <span title={deviceList(process)}>{deviceList(process) || '-'}</span> },
  bytes('dram', 'DRAM', 'dram_requested'),
  bytes('l1', 'L1', 'l1_requested'),
  bytes('program_l1', 'Program L1'),
  bytes('kernels', 'Kernels'),
  { name: 'launches', title: 'Launches', value: (process) => process.held.dispatches, number: true, width: '6.8rem',
    cell: (process) => countText(process.held.dispatches) },
  { name: 'failures', title: 'Failures', value: (process) => process.failure_count, number: true, width: '6.2rem', cell: (process) => countText(process.failure_count) },
  { name: 'age', title: 'Age', value: (process) => process.started_ns, number: true, width: '7rem', cell: age },
  { name: 'figures', title: 'Figures', value: (process) => String(process.tracking.exact), cell: (process) => <Quality of={process} />, width: '7.4rem' },
];

const COMMAND = 'ttmem status';

export const ProcessTable = () => (
  <Table
    label="processes"
    noun="process"
    columns={COLUMNS}
    rows={allProcesses.value}
    rowKey={processKey}
    sort=""
    rowClass={(process) => (process.alive ? '' : 'ended')}
    empty="No process is recorded. Start one with: ttmem run python model.py"
    json="/api/v1/processes"
    command={COMMAND}
  />
);

// Of those that ended, what tells most about the end.
const ENDS: Column<Process>[] = [
  ...COLUMNS.filter((column) => ['name', 'pid', 'user', 'state'].includes(column.name)),
  { name: 'ended', title: 'When', value: (process) => process.ended_ns, width: '12rem', cell: (process) => (process.ended_ns === null ? <span class="quiet">not seen</span> : dateText(process.ended_ns)) },
  ...COLUMNS.filter((column) => ['devices', 'dram', 'l1', 'program_l1', 'kernels'].includes(column.name)),
  { name: 'failure', title: 'Last failure', value: (process) => process.failures.at(-1)?.kind, width: '18rem', cell: (process) => <LastFailure of={process} /> },
];

function LastFailure({ of }: { of: Process }) {
  const last = of.failures.at(-1);
  return last ? <a href={failurePath(of, last.number)}>{KIND_WORDS[last.kind] ?? last.kind}</a> : <span class="quiet">-</span>;
}

export const Dead = () => (
  <>
    <h1>Black boxes</h1>
    <p class="quiet">What processes held when they ended; it is in no sum. A device gives their memory back; <code>ttmem gc</code> removes the boxes.</p>
    <Table label="ended processes" noun="process" columns={ENDS} rows={allProcesses.value.filter((each) => !each.alive)} rowKey={processKey} sort="" empty="No process has ended and left its box." json="/api/v1/processes" command={COMMAND} />
  </>
);

export const Processes = () => (
  <>
    <h1>Processes</h1>
    <ProcessTable />
  </>
);
