// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Keys that work in every view. What a view itself understands stands with it (the core map).
import { signal } from '@preact/signals';
import { hasFleet } from './live/fleet.ts';
import { hasDead, hasJobs, togglePause } from './live/live.ts';
import { freezeAndCompare } from './live/moments.ts';
import { recording } from './live/recording.ts';
import { stepToMark } from './parts/time_bar.tsx';
import { go, path, withKept } from './route.ts';
import { toggleTheme } from './theme.ts';
import { moveTime } from './views/time.tsx';

interface View {
  key: string;
  path: string;
  title: string;
  when?: () => boolean; // shown only then; its address and its key work all the same
}

export const VIEWS: View[] = [
  { key: '1', path: '/', title: 'Overview' },
  { key: '2', path: '/p', title: 'Processes' },
  { key: '3', path: '/holdings', title: 'Holdings' },
  { key: '4', path: '/origins', title: 'Origins' },
  { key: 'l', path: '/leaks', title: 'Leaks' },
  { key: '5', path: '/programs', title: 'Programs' },
  { key: '6', path: '/t', title: 'Time' },
  { key: 'r', path: '/recordings', title: 'Recordings', when: () => !recording.value },
  { key: '7', path: '/events', title: 'Events' },
  { key: '8', path: '/failures', title: 'Failures' },
  { key: 'b', path: '/dead', title: 'Dead', when: () => hasDead.value },
  { key: 'j', path: '/jobs', title: 'Jobs', when: () => hasJobs.value },
  { key: 'g', path: '/fleet', title: 'Fleet', when: () => hasFleet.value || path.value === '/fleet' },
  { key: '9', path: '/health', title: 'Health' },
];

export const helpOpen = signal(false);

export const KEYS: [string, string][] = [
  ['/', 'filter the list'],
  ['Space', 'pause, and go on'],
  ['Arrows, Home, End, Page Up, Page Down', 'move in the core map'],
  ['Enter', 'open what is focused: a core, a link'],
  ['Esc', 'leave the filter, close this'],
  ['f', 'freeze this moment, to compare it with another'],
  ['[ and ]', 'of a recording: the mark before, the next mark'],
  [', . + -', 'of the time: earlier, later, zoom in, zoom out'],
  ['d', 'dark or light'],
  ['?', 'these keys'],
];

const inTime = (what: 'earlier' | 'later' | 'in' | 'out') => () => path.peek() === '/t' && moveTime(what);

const ACTIONS: Record<string, () => unknown> = {
  '/': () => document.querySelector<HTMLInputElement>('input.filter')?.focus(),
  ' ': togglePause,
  '?': () => (helpOpen.value = !helpOpen.value),
  '[': () => stepToMark(-1),
  ']': () => stepToMark(1),
  ',': inTime('earlier'),
  '.': inTime('later'),
  '+': inTime('in'),
  '-': inTime('out'),
  d: toggleTheme,
  f: () => void freezeAndCompare(),
};

export function startKeys(): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key === 'Escape') {
      helpOpen.value = false;
      if (target.matches('input')) target.blur();
      return;
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches('input, select, textarea')) return;
    if (event.key === ' ' && target.matches('button, a, summary, [role=gridcell]')) return;
    const view = VIEWS.find((each) => each.key === event.key);
    const action = view ? () => go(withKept(view.path)) : ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
