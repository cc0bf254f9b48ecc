// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Keys that work in every view. What a view itself understands stands with it (the core map).
import { signal } from '@preact/signals';
import { togglePause } from './live/live.ts';
import { freeze } from './live/moments.ts';
import { stepToMark } from './parts/time_bar.tsx';
import { go, withKept } from './route.ts';
import { toggleTheme } from './theme.ts';

export const VIEWS: { path: string; title: string }[] = [
  { path: '/', title: 'Overview' },
  { path: '/p', title: 'Processes' },
  { path: '/holdings', title: 'Holdings' },
  { path: '/origins', title: 'Origins' },
  { path: '/programs', title: 'Programs' },
  { path: '/t', title: 'Time' },
  { path: '/events', title: 'Events' },
  { path: '/failures', title: 'Failures' },
  { path: '/health', title: 'Health' },
];

export const helpOpen = signal(false);

export const KEYS: [string, string][] = [
  ['1 … 9', 'go to a view'],
  ['/', 'filter the list'],
  ['Space', 'pause, and go on'],
  ['Arrows, Home, End, Page Up, Page Down', 'move in the core map'],
  ['Enter', 'open what is focused: a core, a link'],
  ['Esc', 'leave the filter, close this'],
  ['f', 'freeze this moment, to compare it with another'],
  ['[ and ]', 'of a recording: the mark before, the next mark'],
  ['d', 'dark or light'],
  ['?', 'these keys'],
];

const ACTIONS: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLInputElement>('input.filter')?.focus(),
  ' ': togglePause,
  '?': () => (helpOpen.value = !helpOpen.value),
  '[': () => stepToMark(-1),
  ']': () => stepToMark(1),
  d: toggleTheme,
  f: () => void freeze().then((moment) => go(withKept(`/compare?from=${moment.id}`))),
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
    const view = VIEWS[Number(event.key) - 1];
    const action = view ? () => go(withKept(view.path)) : ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
