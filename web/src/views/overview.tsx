// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The first screen: who has which device, and how close to the edge it is.
import { computed, useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { allDevices, allProcesses, deviceIds, deviceOf, directories, processKeys } from '../live/live.ts';
import type { Device, Mesh } from '../live/documents.ts';
import { DRAM_PARTS, L1_PARTS, NamedBars, PEAK } from '../parts/device_bars.tsx';
import { Legend } from '../parts/bar.tsx';
import { CopyCommand } from '../parts/copy.tsx';
import { MiniMap } from '../parts/mini_map.tsx';
import { Badge, Bytes, Empty, Name } from '../parts/text.tsx';
import { visible } from '../format/words.ts';
import { nounText } from '../format/units.ts';
import { alarmsOf } from '../parts/alarms.tsx';
import { processPath, ProcessTable } from './processes.tsx';

const MOST_COLUMNS = 8; // that are wide enough to be read

// A mesh that is too wide is broken into rows of the same length, if that leaves none over.
const columnsOf = (mesh: Mesh): number | undefined =>
  mesh.columns <= MOST_COLUMNS ? mesh.columns : [8, 7, 6, 5, 4].find((each) => mesh.columns % each === 0);

const kindOf = (device: Device): string => `${device.board ?? device.arch}${device.mock ? ' mock' : ''}`;

// What all of these are; null: not the same.
function commonKind(ids: number[]): string | null {
  const kinds = new Set(ids.map((id) => { const device = deviceOf(id); return device ? kindOf(device) : null; }));
  return kinds.size === 1 ? [...kinds][0]! : null;
}

// Chips are laid out as the meshes have them, the largest first; each chip stands once, and the others follow.
function layout(): { meshes: Mesh[]; rest: number[] } {
  const all = allProcesses.value.filter((each) => each.alive).flatMap((each) => each.meshes);
  const whole = all.filter((mesh) => mesh.devices.length > 1 && mesh.devices.length === mesh.rows * mesh.columns);
  const placed = new Set<number>(), meshes: Mesh[] = [];
  for (const mesh of whole.sort((a, b) => b.devices.length - a.devices.length || a.devices[0]! - b.devices[0]!)) {
    if (mesh.devices.some((id) => placed.has(id))) continue;
    mesh.devices.forEach((id) => placed.add(id));
    meshes.push(mesh);
  }
  return { meshes, rest: deviceIds.value.filter((id) => !placed.has(id)) };
}

function MeshCards({ mesh, many }: { mesh: Mesh; many: boolean }) {
  const columns = columnsOf(mesh);
  // On small cards it is said once, where all are the same.
  const kind = useComputed(() => (many ? commonKind(mesh.devices) : null)).value;
  return (
    <section aria-label={`Mesh of ${mesh.rows} x ${mesh.columns}`} data-mesh={mesh.devices.join(' ')}>
      <h2>
        Mesh <span class="quiet">{mesh.rows} x {mesh.columns}<span class="laid-out">, {columns === mesh.columns ? 'as it is wired' : columns ? `in rows of ${columns}` : 'row by row'}</span>{kind && `, ${visible(kind)}`}</span>
      </h2>
      <div class={`cards${columns ? ' mesh' : ''}${many ? ' many' : ''}`} {...(columns ? { style: { '--columns': String(columns) } } : {})}>
        {mesh.devices.map((id) => (
          <Card key={id} id={id} kindSaid={kind !== null} />
        ))}
      </div>
    </section>
  );
}

export function Overview() {
  if (deviceIds.value.length === 0 && processKeys.value.length === 0) return <Nothing />;
  const { meshes, rest } = layout();
  const many = deviceIds.value.length > 8;
  return (
    <>
      <h1 class="unseen">Overview</h1>
      <Alarms />
      {meshes.map((mesh) => <MeshCards key={mesh.devices.join(' ')} mesh={mesh} many={many} />)}
      {rest.length > 0 && (
        <section aria-label="Devices">
          <h2>{meshes.length > 0 ? 'Other devices' : 'Devices'}</h2>
          <div class={many ? 'cards many' : 'cards'}>
            {rest.map((id) => (
              <Card key={id} id={id} />
            ))}
          </div>
        </section>
      )}
      <Legend parts={[...DRAM_PARTS, ...L1_PARTS, PEAK]} />
      <h2>Processes</h2>
      <ProcessTable />
    </>
  );
}

function Nothing() {
  return (
    <>
      <h1>No device is in use</h1>
      <Empty title="Nothing has been recorded on this host yet.">
        <p>Put this before the command that you use anyway:</p>
        <p>
          <CopyCommand text="ttmem run python model.py" />
        </p>
        <p>No model at hand? This records a made-up one:</p>
        <p>
          <CopyCommand text="ttmem demo" />
        </p>
        <p class="quiet">
          Looking in {directories.value.length > 0 ? directories.value.join(', ') : 'no folder'}. If you expected something
          here, <code>ttmem doctor</code> says what is wrong.
        </p>
      </Empty>
    </>
  );
}

function Alarms() {
  const alarms = alarmsOf(allDevices.value, allProcesses.value);
  if (alarms.length === 0) return null;
  return (
    <section class="alarms" aria-label="Needs attention">
      <ul>
        {alarms.slice(0, 6).map((alarm) => (
          <li key={alarm.key} class={alarm.kind}>
            <a href={alarm.href}>{alarm.text}</a>
          </li>
        ))}
        {alarms.length > 6 && <li>and {alarms.length - 6} more</li>}
      </ul>
    </section>
  );
}

function Headroom({ device }: { device: Device }) {
  const { min, core } = device.headroom;
  const clash = min !== null && min < 0;
  return (
    <span class={clash ? 'bad' : undefined}>
      {clash ? 'Clash' : 'Headroom'} <Bytes value={min} figure="headroom.min" />
      {core && <span class="quiet at"> at {core.x},{core.y}</span>}
    </span>
  );
}

// Of what is not known, one "?" is enough.
function Card({ id, kindSaid = false }: { id: number; kindSaid?: boolean }) {
  const device = deviceOf(id);
  if (!device) return <div class="card gone">Device {id} is not in use</div>;
  const name = `Device ${id}`;
  return (
    <article class="card" data-device={id} aria-label={name}>
      <header>
        <a class="card-title" href={`/d/${id}`}>
          {name}
        </a>{' '}
        {!kindSaid && <span class="quiet">{visible(kindOf(device))}</span>}
        <HostFacts device={device} />
      </header>
      <div class="card-body">
        <MiniMap id={id} />
        <div class="card-bars">
          <NamedBars device={device} />
        </div>
      </div>
      <div class="card-foot">
        <Headroom device={device} />
        <span class="largest">
          largest free block <Bytes value={device.dram.largest_free} figure="dram.largest_free" /> per bank
        </span>
      </div>
      <Owners id={id} count={device.processes} />
    </article>
  );
}

function HostFacts({ device }: { device: Device }) {
  const host = device.host;
  if (!host) return null;
  const facts = [
    host.temperature_millidegrees === null ? null : `${Math.round(host.temperature_millidegrees / 1000)} °C`,
    host.power_microwatts === null ? null : `${Math.round(host.power_microwatts / 1e6)} W`,
    host.aiclk_mhz === null ? null : `${host.aiclk_mhz} MHz`,
  ].filter((each) => each !== null);
  if (facts.length === 0) return null;
  return <span class="host-facts">{facts.join('  ')}</span>;
}

interface Owner {
  name: string;
  pid: number;
  start: number;
}

// Who has which device open, as text: a card is drawn again only when its own owners are others.
const owners = computed(() => {
  const all = new Map<number, Owner[]>();
  for (const { alive, devices, name, pid, start } of allProcesses.value) {
    for (const device of alive ? devices : []) {
      if (!device.open) continue;
      if (!all.has(device.id)) all.set(device.id, []);
      all.get(device.id)!.push({ name, pid, start });
    }
  }
  return new Map([...all].map(([id, each]) => [id, JSON.stringify(each)]));
});

function Owners({ id, count }: { id: number; count: number }) {
  const text = useComputed(() => owners.value.get(id) ?? '[]').value;
  return <OwnerList text={text} count={count} />;
}

function OwnerList({ text, count }: { text: string; count: number }) {
  const owners = useMemo(() => JSON.parse(text) as Owner[], [text]);
  if (owners.length === 0) return <div class="owners quiet">{count === 0 ? 'free' : nounText(count, 'process')}</div>;
  return (
    <div class="owners">
      {owners.slice(0, 2).map((each) => (
        <a key={`${each.pid}-${each.start}`} href={processPath(each)}>
          <Name of={each.name} /> <span class="quiet">{each.pid}</span>
        </a>
      ))}
      {owners.length > 2 && <Badge>and {owners.length - 2} more</Badge>}
    </div>
  );
}
