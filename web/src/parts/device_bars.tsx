// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bars of a device: DRAM, and the L1 that buffers and programs share.
import type { Device, Figure } from '../live/documents.ts';
import { percentText } from '../format/units.ts';
import { Bar } from './bar.tsx';
import { Capacity, Taken } from './text.tsx';

export const DRAM_PARTS = [
  { kind: 'dram', label: 'DRAM buffers' },
];
export const L1_PARTS = [
  { kind: 'l1', label: 'L1 buffers' },
  { kind: 'program', label: 'Program L1, resident' },
  { kind: 'l1-small', label: 'L1_SMALL' },
];

export const PEAK = { kind: 'peak-tick', label: 'Peak of buffers' };

export const DramBar = ({ device }: { device: Device }) => (
  <Bar
    label="DRAM"
    parts={[{ kind: 'dram', label: 'buffers', bytes: device.dram.taken }]}
    capacity={device.dram.capacity}
    peak={device.dram.peak}
  />
);

export const L1Bar = ({ device }: { device: Device }) => (
  <Bar
    label="L1"
    parts={[
      { kind: 'l1', label: 'buffers', bytes: device.l1.taken },
      { kind: 'program', label: 'program L1', bytes: device.program_l1.resident },
      { kind: 'l1-small', label: 'L1_SMALL', bytes: device.l1_small.taken },
    ]}
    capacity={device.l1_total.capacity}
    peak={device.l1.peak}
  />
);

const Percent = ({ part, whole }: { part: Figure; whole: Figure }) => (part === null || !whole ? null : <span class="percent">{percentText(part, whole)}</span>);

// Both, each below its figures.
export const NamedBars = ({ device }: { device: Device }) => (
  <>
    <div class="bar-line">
      <span>DRAM</span>
      <span>
        <Taken value={device.dram.taken} requested={device.dram.requested} figure="dram.taken" /> <span class="quiet of">of <Capacity told={device.dram.capacity} nominal={device.nominal?.dram_bytes} /></span>{' '}
        <Percent part={device.dram.taken} whole={device.dram.capacity} />
      </span>
    </div>
    <DramBar device={device} />
    <div class="bar-line">
      <span>L1</span>
      <span>
        <Taken value={device.l1_total.used} requested={device.l1.requested} figure="l1_total.used" /> <span class="quiet of">of <Capacity told={device.l1_total.capacity} nominal={device.nominal?.l1_bytes} /></span>{' '}
        <Percent part={device.l1_total.used} whole={device.l1_total.capacity} />
      </span>
    </div>
    <L1Bar device={device} />
  </>
);
