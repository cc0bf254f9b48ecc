// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What needs somebody's attention, the worst first: clashes, failures, processes that died with
// memory, full devices, figures that may be wrong.
import type { Device, Process } from '../live/documents.ts';
import { bytesText, rangesText } from '../format/units.ts';
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
  return alarms;
}

// One for all devices that are full alike.
function ofFull(devices: Device[]): Alarm[] {
  const full = devices.filter(({ dram }) => dram.taken !== null && dram.capacity && dram.taken / dram.capacity > FULL);
  const first = full[0];
  if (!first) return [];
  const left = Math.min(...full.map(({ dram }) => dram.capacity! - dram.taken!));
  const how = left < 0 ? `more is taken than there is, by ${bytesText(-left)}` : `nearly full, ${bytesText(left)} left`;
  const which = full.length === 1 ? `Device ${first.id}` : `Devices ${rangesText(full.map((each) => each.id))}`;
  return [{ key: 'full', kind: 'warn', href: full.length === 1 ? `/d/${first.id}` : '/', text: `${which}: DRAM: ${how}` }];
}

export const path = (whose: { pid: number; start: number }): string => `/p/${whose.pid}-${whose.start}`;
export const failurePath = (whose: { pid: number; start: number }, number: number): string => `/failures/${whose.pid}-${whose.start}/${number}`;
// As the daemon and the command line take it.
export const chosen = (whose: { pid: number; start: number }): string => `${whose.pid}/${whose.start}`;

function ofProcess(process: Process): Alarm[] {
  const name = `${visible(process.name)} (${process.pid})`;
  const alarms: Alarm[] = [];
  const last = process.failures.at(-1);
  if (last && process.alive) {
    alarms.push({ key: `failure ${path(process)}`, kind: 'bad', href: failurePath(process, last.number), text: `${name}: ${KIND_WORDS[last.kind] ?? last.kind}` });
  }
  if (process.ended === 'died') {
    alarms.push({ key: `died ${path(process)}`, kind: 'warn', href: path(process), text: `${name} died; what it held is kept` });
  }
  if (process.alive && process.tracking.unreached) {
    alarms.push({ key: `unreached ${path(process)}`, kind: 'warn', href: path(process), text: `${name}: nothing of it is recorded` });
  } else if (process.alive && (process.tracking.exact === false || process.tracking.unrecorded > 0 || process.devices.some((each) => each.contradiction))) {
    alarms.push({ key: `tracking ${path(process)}`, kind: 'warn', href: '/health', text: `${name}: its figures may be wrong` });
  }
  return alarms;
}

export const alarmsOf = (devices: Device[], processes: Process[]): Alarm[] =>
  [...devices.flatMap(ofDevice), ...ofFull(devices), ...processes.flatMap(ofProcess)].sort((a, b) => a.kind.localeCompare(b.kind));
