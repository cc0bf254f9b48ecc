// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What needs somebody's attention, the worst first: clashes, failures, processes that died with
// memory, full devices, figures that may be wrong.
import type { Device, Process } from '../live/documents.ts';
import { bytesText } from '../format/units.ts';
import { KIND_WORDS, visible } from '../format/words.ts';

export interface Alarm {
  key: string;
  kind: 'bad' | 'warn';
  text: string;
  href: string;
}

const FULL = 0.95;

function ofDevice(device: Device): Alarm[] {
  const alarms: Alarm[] = [];
  const { min, core } = device.headroom;
  if (min !== null && min < 0) {
    const where = core ? ` on core ${core.x},${core.y}` : '';
    alarms.push({
      key: `clash ${device.id}`, kind: 'bad', href: core ? `/d/${device.id}/c/${core.x},${core.y}` : `/d/${device.id}`,
      text: `Device ${device.id}: program L1 and L1 buffers overlap by ${bytesText(-min)}${where}`,
    });
  }
  const { taken, capacity } = device.dram;
  if (taken !== null && capacity && taken / capacity > FULL) {
    alarms.push({
      key: `full ${device.id}`, kind: 'warn', href: `/d/${device.id}`,
      text: `Device ${device.id}: DRAM is nearly full, ${bytesText(capacity - taken)} left`,
    });
  }
  return alarms;
}

export const path = (process: { pid: number; start: number }): string => `/p/${process.pid}-${process.start}`;

function ofProcess(process: Process): Alarm[] {
  const name = `${visible(process.name)} (${process.pid})`;
  const alarms: Alarm[] = [];
  const last = process.failures.at(-1);
  if (last && process.alive) {
    alarms.push({ key: `failure ${path(process)}`, kind: 'bad', href: `/failures/${process.pid}/${last.number}`, text: `${name}: ${KIND_WORDS[last.kind] ?? last.kind}` });
  }
  if (process.ended === 'died') {
    alarms.push({ key: `died ${path(process)}`, kind: 'warn', href: path(process), text: `${name} died; what it held is kept` });
  }
  if (process.alive && (process.tracking.exact === false || process.tracking.unrecorded > 0)) {
    alarms.push({ key: `tracking ${path(process)}`, kind: 'warn', href: '/health', text: `${name}: its figures may be wrong` });
  }
  return alarms;
}

export const alarmsOf = (devices: Device[], processes: Process[]): Alarm[] =>
  [...devices.flatMap(ofDevice), ...processes.flatMap(ofProcess)].sort((a, b) => a.kind.localeCompare(b.kind));
