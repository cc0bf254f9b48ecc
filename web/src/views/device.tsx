// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One device: its figures, its cores as a heat map, the L1 of a chosen core, its DRAM banks.
import { deviceOf, received } from '../live/live.ts';
import { useDocument } from '../live/ask.ts';
import type { Bank, Device, RingContents } from '../live/documents.ts';
import { BankView } from '../parts/bank.tsx';
import { DramBar, L1Bar, L1_PARTS, PEAK } from '../parts/device_bars.tsx';
import { Legend } from '../parts/bar.tsx';
import { Rings } from '../parts/rings.tsx';
import { Badge, Bytes, Capacity, Count, Empty, Fact, Name, Problem, Taken } from '../parts/text.tsx';
import { coreName } from '../format/cores.ts';
import { percentText } from '../format/units.ts';
import { Cores } from './cores.tsx';
import { HoldingsTable } from './holdings.tsx';

const CORES_EVERY_MS = 1000, BANKS_EVERY_MS = 2000;

export function DeviceView({ id, core }: { id: number; core: string | null }) {
  const device = deviceOf(id);
  if (!device) return received.value ? <Unknown id={id} /> : null;
  return (
    <>
      <h1>
        Device {id} <span class="quiet">{device.board ?? device.arch}</span>
        {device.mock && <Badge title="there is no such chip: the runtime runs on a mock device">mock</Badge>}
      </h1>
      <Figures device={device} />
      <Cores device={device} chosen={core} />
      <RingsOf id={id} />
      <Banks id={id} />
      <h2>Holdings</h2>
      <HoldingsTable scope={`device=${id}`} command={`ttmem dump --device ${id}`} />
    </>
  );
}

const Unknown = ({ id }: { id: number }) => (
  <>
    <h1>Device {id}</h1>
    <Empty title={`No device ${id} is in use on this host.`}>
      <p>
        <a href="/">All devices</a>
      </p>
    </Empty>
  </>
);

function Figures({ device }: { device: Device }) {
  const { dram, l1_total, l1, program_l1, kernels, ring, headroom } = device;
  return (
    <div class="panels pair">
      <section class="panel" aria-label="DRAM">
        <h2>DRAM</h2>
        <DramBar device={device} />
        <dl class="facts">
          <Fact label="Taken">
            <Taken value={dram.taken} requested={dram.requested} figure="dram.taken" /> of <Capacity told={dram.capacity} nominal={device.nominal?.dram_bytes} figure="dram.capacity" /> <span class="bytes">({percentText(dram.taken, dram.capacity)})</span>
          </Fact>
          <Fact label="Requested"><Bytes value={dram.requested} figure="dram.requested" /></Fact>
          <Fact label="Buffers"><Count value={dram.count} figure="dram.count" /></Fact>
          <Fact label="Peak"><Bytes value={dram.peak} figure="dram.peak" /></Fact>
          <Fact label="Largest free block per bank"><Bytes value={dram.largest_free} figure="dram.largest_free" /></Fact>
          {device.trace.capacity !== null && device.trace.capacity > 0 && (
            <Fact label="Trace region"><Bytes value={device.trace.taken} figure="trace.taken" /> of <Bytes value={device.trace.capacity} /></Fact>
          )}
        </dl>
      </section>
      <section class="panel" aria-label="L1">
        <h2>L1</h2>
        <L1Bar device={device} />
        <Legend parts={[...L1_PARTS, PEAK]} />
        <dl class="facts">
          <Fact label="Used">
            <Taken value={l1_total.used} requested={l1.requested} figure="l1_total.used" /> of <Capacity told={l1_total.capacity} nominal={device.nominal?.l1_bytes} figure="l1_total.capacity" /> <span class="bytes">({percentText(l1_total.used, l1_total.capacity)})</span>
          </Fact>
          <Fact label="Buffers, taken"><Taken value={l1.taken} requested={l1.requested} figure="l1.taken" /></Fact>
          <Fact label="Buffers, peak"><Bytes value={l1.peak} figure="l1.peak" /></Fact>
          <Fact label="Largest free block per core"><Bytes value={l1.largest_free} figure="l1.largest_free" /></Fact>
          <Fact label="Program L1, resident"><Bytes value={program_l1.resident} figure="program_l1.resident" /></Fact>
          <Fact label="Program L1, reserved"><Bytes value={program_l1.reserved} figure="program_l1.reserved" /></Fact>
          <Fact label="L1_SMALL"><Bytes value={device.l1_small.taken} figure="l1_small.taken" /></Fact>
          <Fact label="Least headroom">
            <span class={headroom.min !== null && headroom.min < 0 ? 'bad' : undefined}><Bytes value={headroom.min} figure="headroom.min" /></span>
            {headroom.core && <> at <a href={`/d/${device.id}/c/${coreName(headroom.core)}`}>{coreName(headroom.core)}</a></>}
          </Fact>
        </dl>
      </section>
      <section class="panel wide" aria-label="Kernels and launches">
        <h2>Kernels</h2>
        <dl class="facts">
          <Fact label="Footprint, in no total"><Bytes value={kernels.total.footprint} figure="kernels.total.footprint" /></Fact>
          <Fact label="Application"><Bytes value={kernels.application.footprint} figure="kernels.application.footprint" /></Fact>
          <Fact label="Fabric"><Bytes value={kernels.fabric.footprint} figure="kernels.fabric.footprint" /></Fact>
          <Fact label="Dispatch"><Bytes value={kernels.dispatch.footprint} figure="kernels.dispatch.footprint" /></Fact>
          {(kernels.estimated.count ?? 0) > 0 && <Fact label="Estimated (est), in no total"><Bytes value={kernels.estimated.footprint} figure="kernels.estimated.footprint" /></Fact>}
          {kernels.sizes !== 'true' && <Fact label="Sizes">of a stand-in compiler, not the real one</Fact>}
          {Object.entries(kernels.by_core_type).filter(([, bytes]) => (bytes ?? 0) > 0).map(([type, bytes]) => (
            <Fact key={type} label={`On ${type} cores`}><Bytes value={bytes} figure={`kernels.by_core_type.${type}`} /></Fact>
          ))}
          <Fact label="Code of all kernels"><Bytes value={kernels.code_bytes} figure="kernels.code_bytes" /></Fact>
          <Fact label="Equal code counted once"><Bytes value={kernels.unique_bytes} figure="kernels.unique_bytes" /></Fact>
          <Fact label="Launches"><Count value={kernels.dispatches} figure="kernels.dispatches" /></Fact>
          <Fact label="First loads"><Count value={kernels.first_loads} figure="kernels.first_loads" /></Fact>
          <Fact label="Cache hits"><Count value={kernels.cache_hits} figure="kernels.cache_hits" /></Fact>
          <Fact label="Reloads"><Count value={kernels.reloads} figure="kernels.reloads" /></Fact>
          {ring && (
            <Fact label="Fullest ring">
              <Bytes value={ring.used} figure="ring.used" /> of <Bytes value={ring.capacity} /> <span class="quiet">{ring.source}</span>
            </Fact>
          )}
        </dl>
        <SharedCode of={kernels.shared_code} />
      </section>
    </div>
  );
}

function SharedCode({ of }: { of: Device['kernels']['shared_code'] }) {
  if (of.length === 0) return null;
  return (
    <ul class="shared-code" aria-label="Code that several kernels share">
      {of.map((code) => (
        <li key={`${code.name} ${code.bytes}`}>
          <Name of={code.name} /> <span class="quiet"><Bytes value={code.bytes} /> shared by {code.kernels} kernels</span>
        </li>
      ))}
    </ul>
  );
}

function RingsOf({ id }: { id: number }) {
  const path = `/api/v1/devices/${id}/rings`;
  const { data, problem, note } = useDocument<{ rings: RingContents[] }>(path, CORES_EVERY_MS).value;
  return (
    <section aria-label="Kernel-config rings">
      <h2>Kernel-config rings</h2>
      <Problem text={problem} note={note} />
      {data && <Rings rings={data.rings} />}
    </section>
  );
}

function Banks({ id }: { id: number }) {
  const { data, problem, note } = useDocument<{ spaces: Bank[] }>(`/api/v1/devices/${id}/banks`, BANKS_EVERY_MS).value;
  return (
    <section aria-label="DRAM banks">
      <h2>DRAM by address</h2>
      <Problem text={problem} note={note} />
      {data?.spaces.length === 0 && <Empty title="No living process has an allocator on this device." />}
      {data?.spaces.map((bank) => <BankView key={bank.space} bank={bank} />)}
    </section>
  );
}
