// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Moments that were frozen, to be compared with others: what was held then, by line. They are kept while
// the tab is open.
import { signal } from '@preact/signals';
import { ask } from './ask.ts';
import type { OriginsDocument } from './documents.ts';
import { go, withKept } from '../route.ts';

const KEY = 'ttmem.moments', MOST = 6;

export interface Moment {
  id: string; // its time, in ms
  time_ns: number;
  lines: OriginsDocument;
}

export const LINES_PATH = '/api/v1/origins?by=line';

function saved(): Moment[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Moment[];
  } catch {
    return []; // kept by an older page, or nothing may be kept
  }
}

export const moments = signal<Moment[]>(saved());

function keep(all: Moment[]): void {
  moments.value = all.slice(-MOST);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(moments.value));
  } catch {
    // too large, or not allowed: they are there until the tab is closed or loaded anew
  }
}

async function freeze(): Promise<Moment> {
  const lines = await ask<OriginsDocument>(LINES_PATH);
  const moment = { id: String(Math.round(lines.time_ns / 1e6)), time_ns: lines.time_ns, lines };
  keep([...moments.peek(), moment]);
  return moment;
}

export const freezeProblem = signal<string | null>(null);

export async function freezeAndCompare(): Promise<void> {
  freezeProblem.value = null;
  try {
    const moment = await freeze();
    go(withKept(`/compare?from=${moment.id}`));
  } catch (problem) {
    freezeProblem.value = `Nothing was frozen. ${(problem as Error).message}`;
    go(withKept('/compare'));
  }
}

export const forget = (id: string): void => keep(moments.peek().filter((each) => each.id !== id));
