// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernels of all programs, by type, program, type of core or code. Code that several kernels share is told so,
// and counted once.
import { useMemo } from 'preact/hooks';
import { useDocument } from '../live/ask.ts';
import { allDevices } from '../live/live.ts';
import type { Program } from '../live/documents.ts';
import { kernelGroups, KERNELS_BY, programKey, type KernelGroup } from '../format/kernels.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Line, Name, Problem } from '../parts/text.tsx';
import { parameter, setParameters } from '../route.ts';
import { countText, nounText } from '../format/units.ts';
import { spaced } from '../format/words.ts';
import { loadHoldings, type Loaded } from './holdings.tsx';

const EVERY_MS = 4000, PATH = '/api/v1/holdings?kind=kernel';

const Title = ({ of, by }: { of: KernelGroup; by: string }) => (
  <>
    {by === 'type' || by === 'core' ? spaced(of.name ?? '?') : <Name of={of.name} />}
    {of.key === 'estimated' && <span class="quiet" title="sizes that are somebody's guess, in no total"> (est)</span>}
    {by === 'code' && of.kernels > 1 && <> <Badge title="these kernels have the same binary">shared</Badge></>}
  </>
);

const columns = (by: string): Column<KernelGroup>[] => [
  { name: 'name', title: KERNELS_BY.find(([name]) => name === by)?.[1].replace(/^./, (c) => c.toUpperCase()) ?? by, value: (each) => each.name, width: '18rem', cell: (each) => <Title of={each} by={by} /> },
  { name: 'kernels', title: by === 'code' ? 'Shared by' : 'Kernels', value: (each) => each.kernels, number: true, width: '7rem', cell: (each) => (by === 'code' ? nounText(each.kernels, 'kernel') : countText(each.kernels)) },
  { name: 'programs', title: 'Programs', value: (each) => each.programs, number: true, width: '7rem', cell: (each) => countText(each.programs) },
  { name: 'code', title: 'Code, once', value: (each) => each.code, number: true, width: '8rem', cell: (each) => <Bytes value={each.code} /> },
  { name: 'footprint', title: 'Footprint', value: (each) => each.footprint, number: true, width: '8rem', cell: (each) => <Bytes value={each.footprint} /> },
  { name: 'cores', title: 'Kernels x cores', value: (each) => each.cores, number: true, width: '9rem', cell: (each) => countText(each.cores) },
  { name: 'launches', title: 'Launches', value: (each) => each.launches, number: true, width: '8rem', cell: (each) => countText(each.launches) },
  ...(by === 'code' ? [{ name: 'source', title: 'Source', value: (each: KernelGroup) => each.of.source, width: '20rem', cell: (each: KernelGroup) => <Line of={each.of.source} /> }] : []),
  ...(by === 'program' || by === 'code' ? [{ name: 'process', title: 'Process', value: (each: KernelGroup) => each.of.process, width: '9rem', cell: (each: KernelGroup) => <Name of={each.of.process} /> }] : []),
];

export function Kernels({ programs }: { programs: Program[] }) {
  const by = parameter('kernels') || 'type';
  const { data, problem, note } = useDocument<Loaded>(PATH, EVERY_MS, loadHoldings).value;
  const names = useMemo(() => new Map(programs.map((each) => [programKey(each), each.name])), [programs]);
  const groups = useMemo(() => data && kernelGroups(data.holdings.filter((each) => each.alive), by, names), [data, by, names]);
  const standIn = allDevices.value.some((device) => device.kernels.sizes !== 'true');
  const shared = data && data.holdings.length < data.total;
  return (
    <section aria-label="Kernels of all programs">
      <h2>Kernels</h2>
      <Problem text={problem} note={note} />
      <div class="tabs" role="group" aria-label="Kernels by what">
        {KERNELS_BY.map(([name, title]) => (
          <button key={name} type="button" class="tab" aria-pressed={by === name} onClick={() => setParameters({ kernels: name === 'type' ? null : name })}>{title}</button>
        ))}
      </div>
      <Table label="kernels" noun="row" prefix="kernel-" columns={columns(by)} rows={groups} rowKey={(each) => each.key} sort="-footprint" empty="No kernel is loaded." json={PATH} command="ttmem dump --kind kernel" />
      <p class="quiet">
        Footprint: binary bytes x cores on all devices, an upper bound that is in no total. Code: the binaries of one device, equal ones once. By core: {' '}
        {allDevices.value.slice(0, 8).map((device) => <a key={device.id} class="spaced" href={`/d/${device.id}?heat=kernels`}>{device.id}</a>)}{' '}
        <a href="/holdings?show=kind%3Dkernel">all kernels</a>.
        {standIn && ' Sizes are those of a stand-in compiler, not of the real one.'}
        {shared && ` Of the first ${countText(data.holdings.length)} of ${countText(data.total)} kernels.`}
      </p>
    </section>
  );
}
