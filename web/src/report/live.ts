// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Stands where the page has its daemon (live/live.ts): a report is of one moment, and nobody is asked.
import { signal } from '@preact/signals';

export const now = signal(0); // of the moment that is shown, ns
export const version = signal(0);
export const pausedSince = signal<number | null>(null);
export const received = signal(true);
export const connection = signal({ state: 'live' as const });
export const token = (): string | null => null;
