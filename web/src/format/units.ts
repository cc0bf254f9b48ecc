// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Figures in words, as the terminal writes them (src/view/units.cpp). Unknown is "?", never 0.
import type { Figure } from '../live/documents.ts';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

export function bytesText(bytes: Figure | undefined): string {
  if (bytes === null || bytes === undefined) return '?';
  if (bytes < 0) return `-${bytesText(-bytes)}`;
  if (bytes < STEP) return `${bytes} B`;
  let value = bytes, unit = 0;
  // Until the value, rounded to one decimal, has fewer than four digits before the point.
  while (value >= STEP - 0.05 && unit + 1 < UNITS.length) {
    value /= STEP;
    ++unit;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}

export function countText(value: Figure | undefined): string {
  if (value === null || value === undefined) return '?';
  return value.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

// With one decimal: countText takes the digits before the point alone.
export function rateText(value: number): string {
  const [whole, decimal] = value.toFixed(1).split('.');
  return `${countText(Number(whole))}.${decimal}`;
}

export const exactText = (bytes: Figure | undefined): string =>
  bytes === null || bytes === undefined ? 'not known' : `${countText(bytes)} B`;

export const pluralOf = (noun: string): string => (noun.endsWith('s') ? `${noun}es` : `${noun}s`);

export const nounText = (count: number, noun: string): string => `${countText(count)} ${count === 1 ? noun : pluralOf(noun)}`;

// Of a recording, in the words of `ttmem report`.
export const missingText = (events: number): string =>
  `${nounText(events, 'event')} missing: they came too fast to be recorded, or the disk was full`;

export function percentText(part: Figure, whole: Figure): string {
  if (part === null || !whole) return '?';
  return `${Math.round((100 * part) / whole)} %`;
}

// "0-3 7"
export function rangesText(numbers: number[]): string {
  const runs: [number, number][] = [];
  for (const each of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && each === last[1] + 1) last[1] = each;
    else runs.push([each, each]);
  }
  return runs.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(' ');
}

const two = (value: number): string => String(value).padStart(2, '0');

export function durationText(nanoseconds: number): string {
  const seconds = Math.floor(Math.max(0, nanoseconds) / 1e9);
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} m ${two(seconds % 60)} s`;
  if (days === 0) return `${hours} h ${two(minutes % 60)} m`;
  return `${days} d ${two(hours % 24)} h`;
}

export const ageText = (then: Figure, now: number): string => (then === null ? '-' : durationText(now - then));

// The page has the time of its reader. A report goes from one to another: it says UTC, and means it everywhere.
let inUtc = false;
export const tellUtc = (): void => void (inUtc = true);

export const dateAt = (seconds: number): Date => {
  const date = new Date(seconds * 1e3);
  return inUtc ? new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()) : date;
};

export function clockText(time: Figure): string {
  if (time === null) return '-';
  const date = dateAt(time / 1e9);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function dateText(time: Figure): string {
  if (time === null) return '-';
  const date = dateAt(time / 1e9);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockText(time)}`;
}

export const hexText = (value: Figure): string => (value === null ? '?' : `0x${value.toString(16)}`);
