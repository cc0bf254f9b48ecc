// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The page of `ttmem serve --from FILE` shows a recording, at the moment that the address names (`at`).
// Every question to the daemon names it too: docs/http.md, "A recording".
import { computed, signal } from '@preact/signals';
import { parameter } from '../route.ts';

export interface Mark {
  kind: string; // peak, failure
  time_ns: number;
  space?: string | null; // null: all devices together
  bytes?: number;
  pid?: number;
  number?: number;
}

export interface Recording {
  file: string | null; // null: the daemon shows the present
  first_ns: number;
  last_ns: number;
  ended: boolean;
  missed: number;
  problems: string[];
  marks: Mark[] | null; // null: not known yet
  curve: { step_ns: number; most: Record<string, number[]> } | null;
}

export const RECORDING_PATH = '/api/v1/recording';
// Of a daemon of the present: which of the recordings that were opened in it is shown (opening.ts).
export const openedKey = new URLSearchParams(location.search).get('recording');
export const recording = signal<Recording | null>(null);

// What is shown, as the daemon takes it; null: the present.
export const moment = computed(() => (recording.value ? parameter('at') || 'end' : null));

// Seconds after its beginning. A microsecond is added, as numbers here are not exact to the nanosecond, and
// what happened at that moment is to be seen.
export const offsetOf = (time_ns: number, of: Recording): string => `+${(Math.ceil(Math.max(0, time_ns - of.first_ns) / 1000) + 1) / 1e6}`;

export function withMoment(path: string, at = moment.value): string {
  if (!path.startsWith('/api/v1/')) return path;
  const more = [at !== null && `at=${encodeURIComponent(at)}`, openedKey && `recording=${encodeURIComponent(openedKey)}`].filter((each) => each);
  return more.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${more.join('&')}`;
}

// Without an answer, and from a daemon that knows no recordings: the present.
export async function findRecording(): Promise<void> {
  try {
    const response = await fetch(withMoment(RECORDING_PATH, null));
    if (openedKey && response.status === 404) location.assign('/recordings'); // it was closed
    const found = response.ok ? ((await response.json()) as Recording) : null;
    if (found?.file) recording.value = found;
  } catch {
    // the stream will say that nobody answers
  }
}

// Where something happened is known only when a long recording was read through.
export async function awaitMarks(): Promise<void> {
  while (recording.peek() && recording.peek()!.marks === null) {
    await new Promise((done) => setTimeout(done, 1000));
    await findRecording();
  }
}
