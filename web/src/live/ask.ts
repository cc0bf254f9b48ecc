// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Documents that are not in the stream: asked for when a view opens, and again when the stream said
// that something changed.
import { effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { connection, pausedSince, token, version } from './live.ts';
import { moment, withMoment } from './recording.ts';
import { clockText } from '../format/units.ts';

export interface Answer<T> {
  data: T | null;
  problem: string | null;
  note: string | null; // it is of another moment than the page, which stands still
  loading: boolean;
}

// What was asked for in a pause is of now; what names its own end is of that time, whenever it is asked for.
const noteOf = (path: string): string | null =>
  pausedSince.peek() === null || /[?&]to=\d/.test(path) ? null : `Of now (${clockText(Date.now() * 1e6)}), not of the pause: it was opened since.`;

export async function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = {};
  const bearer = token();
  if (bearer) headers['Authorization'] = `Bearer ${bearer}`;
  const response = await fetch(withMoment(path, moment.peek()), { headers, ...(signal ? { signal } : {}) }).catch((problem: Error) => {
    throw problem.name === 'TypeError' ? new Error('The daemon does not answer.') : problem; // each browser has other words for it
  });
  const body = (await response.json()) as T & { error?: { message: string } };
  if (!response.ok) throw new Error(body.error?.message ?? `the daemon answered ${response.status}`);
  return body;
}

// Asks for `path` (null: nothing) now, and at most every `everyMs` again while things change.
// `load` may ask more than once for one answer. `elsewhere`: what it tells changes although nothing does on this host.
export function useDocument<T>(
  path: string | null,
  everyMs: number,
  load: (path: string, signal: AbortSignal) => Promise<T> = ask,
  elsewhere = false,
): ReadonlySignal<Answer<T>> {
  const answer = useMemo<Signal<Answer<T>>>(() => signal({ data: null, problem: null, note: null, loading: path !== null }), []);
  useEffect(() => {
    if (path === null) {
      answer.value = { data: null, problem: null, note: null, loading: false };
      return;
    }
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop = (): void => {};
    answer.value = { ...answer.peek(), loading: true };
    let own = false; // what is shown answers this question
    const again = async () => {
      const seen = version.peek(), note = noteOf(path);
      try {
        const data = await load(path, abort.signal);
        if (abort.signal.aborted) return;
        own = true;
        answer.value = { data, problem: null, note, loading: false };
      } catch (problem) {
        if (abort.signal.aborted) return;
        answer.value = { data: own ? answer.peek().data : null, problem: (problem as Error).message, note: own ? answer.peek().note : null, loading: false };
      }
      if (abort.signal.aborted) return;
      timer = setTimeout(() => {
        stop = effect(() => {
          if ((version.value === seen && !elsewhere) || pausedSince.value !== null || connection.value.state !== 'live') return;
          queueMicrotask(() => {
            stop();
            if (!abort.signal.aborted) void again();
          });
        });
      }, everyMs);
    };
    void again();
    return () => {
      abort.abort();
      clearTimeout(timer);
      stop();
    };
  }, [path, everyMs, moment.value]);
  return answer;
}
