// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The address says what is shown: a link, a reload and the back button give the same view again.
import { computed, signal } from '@preact/signals';

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a % into the address
  }
}

const address = signal(location.pathname + location.search);

export const path = computed(() => new URL(address.value, location.origin).pathname);
export const parameters = computed(() => new URL(address.value, location.origin).searchParams);
export const parts = computed(() => path.value.split('/').filter((part) => part !== '').map(decoded));

// A core of the same device is the same view: the keyboard stays where it is.
const viewOf = (of: string): string => of.split('/').slice(0, 3).join('/');

// The moment of a recording stays while one goes from view to view.
let kept: readonly string[] = [];
export const keepParameters = (names: readonly string[]): void => void (kept = names);

export function withKept(to: string): string {
  const next = new URL(to, location.origin);
  for (const name of kept) {
    const value = parameters.peek().get(name);
    if (value !== null && !next.searchParams.has(name)) next.searchParams.set(name, value);
  }
  return next.pathname + next.search;
}

export function go(to: string, replace = false): void {
  if (to === address.peek()) return;
  const before = viewOf(path.peek());
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  address.value = to;
  if (viewOf(path.peek()) !== before) {
    scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }
}

// Null or '' removes a parameter. Filters and choices replace the address: back leaves the view. What
// is a step, as a zoom is, is taken back by it.
export function setParameters(changes: Record<string, string | null>, isStep = false): void {
  const next = new URLSearchParams(parameters.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  go(path.peek() + (text ? `?${text}` : ''), !isStep);
}

export const parameter = (name: string): string => parameters.value.get(name) ?? '';

export function startRouting(): void {
  addEventListener('popstate', () => (address.value = location.pathname + location.search));
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (link.origin !== location.origin || link.target || link.hasAttribute('download')) return;
    if (/^\/(api|metrics|healthz)(\/|$)/.test(link.pathname)) return;
    event.preventDefault();
    go(withKept(link.pathname + link.search));
  });
}
