// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Many hosts, if the daemon was started with --fleet URL: /healthz says so.
import { computed, effect, signal, type ReadonlySignal } from '@preact/signals';
import { ask, useDocument, type Answer } from './ask.ts';
import type { FleetDocument } from './growth.ts';
import { connection } from './live.ts';

export const FLEET_PATH = '/api/v1/fleet';
const EVERY_MS = 5000; // the daemon asks the engine no more often

export const hasFleet = signal(false);

export function lookForFleet(): void {
  const live = computed(() => connection.value.state === 'live');
  effect(() => {
    if (!live.value) return;
    ask<{ fleet?: unknown }>('/healthz').then((health) => (hasFleet.value = Boolean(health.fleet)), () => {});
  });
}

export const useFleet = (wanted = true): ReadonlySignal<Answer<FleetDocument>> => useDocument<FleetDocument>(wanted ? FLEET_PATH : null, EVERY_MS, ask, true);
