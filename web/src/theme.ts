// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Light or dark: as the system says, or as chosen here.
import { computed, effect, signal } from '@preact/signals';

type Theme = 'light' | 'dark' | 'system';

const KEY = 'ttmem.theme';
const query = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(query.matches);
query.addEventListener('change', () => (systemDark.value = query.matches));

function saved(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // the browser keeps nothing for this page
  }
}

export const theme = signal<Theme>(saved());
export const dark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'));

export function toggleTheme(): void {
  theme.value = dark.value ? 'light' : 'dark';
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // chosen for this visit only
  }
}

export function startTheme(): void {
  effect(() => void (document.documentElement.dataset['theme'] = dark.value ? 'dark' : 'light'));
}
