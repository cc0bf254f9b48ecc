// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// All processes, the living and those whose black box is still there.
import { allProcesses, now } from '../live/live.ts';
import type { Process } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { path } from '../parts/alarms.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Name } from '../parts/text.tsx';
import { ageText, countText, durationText, rangesText } from '../format/units.ts';

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
  if (process.alive || process.ended_ns === null) return ageText(process.started_ns, now.value);
  return process.started_ns === null ? '-' : durationText(process.ended_ns - process.started_ns);
}

const bytes = (name: keyof Process['held'], title: string): Column<Process> => ({
  name, title, number: true, width: name === 'program_l1' ? '7.8rem' : '7rem',
  value: (process) => process.held[name],
  cell: (process) => <Bytes value={process.held[name]} figure={`held.${name}`} />,
});

const COLUMNS: Column<Process>[] = [
  { name: 'name', title: 'Process', value: (process) => process.name, width: '9rem',
    cell: (process) => <a href={processPath(process)}><Name of={process.name} /></a> },
  { name: 'pid', title: 'PID', value: (process) => process.pid, number: true, width: '4.6rem' },
  { name: 'user', title: 'User', value: (process) => process.user ?? String(process.uid), width: '6rem',
    cell: (process) => <Name of={process.user ?? String(process.uid)} /> },
  { name: 'state', title: 'State', value: (process) => (process.alive ? 'running' : process.ended), cell: (process) => <State of={process} />, width: '6.5rem' },
  { name: 'devices', title: 'Devices', value: deviceList, width: '6rem', cell: (process) => <span title={deviceList(process)}>{deviceList(process) || '-'}</span> },
  bytes('dram', 'DRAM'),
  bytes('l1', 'L1'),
  bytes('program_l1', 'Program L1'),
  bytes('kernels', 'Kernels'),
  { name: 'launches', title: 'Launches', value: (process) => process.held.dispatches, number: true, width: '6.8rem',
    cell: (process) => countText(process.held.dispatches) },
  { name: 'failures', title: 'Failures', value: (process) => process.failures.length, number: true, width: '6.2rem' },
  { name: 'age', title: 'Age', value: (process) => process.started_ns, number: true, width: '6rem', cell: age },
  { name: 'figures', title: 'Figures', value: (process) => String(process.tracking.exact), cell: (process) => <Quality of={process} />, width: '7.4rem' },
];

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
    command="ttmem status"
  />
);

export const Processes = () => (
  <>
    <h1>Processes</h1>
    <ProcessTable />
  </>
);
