// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The bars of a device: DRAM, and the L1 that buffers and programs share.
import type { Device } from '../live/documents.ts';
import { Bar } from './bar.tsx';

export const DRAM_PARTS = [
  { kind: 'dram', label: 'DRAM buffers' },
];
export const L1_PARTS = [
  { kind: 'l1', label: 'L1 buffers' },
  { kind: 'program', label: 'Program L1, resident' },
  { kind: 'l1-small', label: 'L1_SMALL' },
];

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
    peak={null}
  />
);
