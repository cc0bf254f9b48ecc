// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the page shows of the daemon, as signals: a part of the page is drawn again when what it
// read has changed, and nothing else is.
import { computed, effect, signal, type Signal } from '@preact/signals';
import type { Device, HistoryEvent, Levels, Process } from './documents.ts';
import { processKey, sortedProcesses } from './merge.ts';
import type { Change, Connection, ToPage, ToWorker, Wants } from './messages.ts';
import { moment, recording } from './recording.ts';

const MOST_EVENTS = 5000;

export const connection = signal<Connection>({ state: 'connecting' });
export const host = signal('');
export const now = signal(0); // of the last figures, ns
export const version = signal(0); // counts changes: who fetched something asks again when it moved on
export const deviceIds = signal<number[]>([]);
export const processKeys = signal<string[]>([]);
export const unreadable = signal<string[]>([]);
export const leftBehind = signal<string[]>([]);
export const directories = signal<string[]>([]);
export const events = signal<HistoryEvent[]>([]);
export const pausedSince = signal<number | null>(null);
export const received = signal(false); // the first snapshot is here

const devices = new Map<number, Signal<Device>>();
const processes = new Map<string, Signal<Process>>();
const levels = new Map<number, Signal<Levels | null>>();

export const deviceOf = (id: number): Device | undefined => (deviceIds.value, devices.get(id)?.value);
export const processOf = (key: string): Process | undefined => (processKeys.value, processes.get(key)?.value);
export const allDevices = computed(() => deviceIds.value.map((id) => devices.get(id)!.value));
export const allProcesses = computed(() => processKeys.value.map((key) => processes.get(key)!.value));

export function levelsOf(id: number): Levels | null {
  if (!levels.has(id)) levels.set(id, signal(null));
  return levels.get(id)!.value;
}

function put<Key, Value>(map: Map<Key, Signal<Value>>, key: Key, value: Value): void {
  const known = map.get(key);
  if (known) known.value = value;
  else map.set(key, signal(value));
}

const sameList = <T>(a: T[], b: T[]): boolean => a.length === b.length && a.every((each, i) => each === b[i]);

function setList<T>(list: Signal<T[]>, next: T[]): void {
  if (!sameList(list.value, next)) list.value = next;
}

function take(change: Change): void {
  if (change.full) {
    const ids = new Set(change.devices.map((each) => each.id));
    const keys = new Set(change.processes.map(processKey));
    for (const id of devices.keys()) if (!ids.has(id)) devices.delete(id);
    for (const key of processes.keys()) if (!keys.has(key)) processes.delete(key);
  }
  for (const id of change.goneDevices) devices.delete(id);
  for (const key of change.goneProcesses) processes.delete(key);
  for (const each of change.devices) put(devices, each.id, each);
  for (const each of change.processes) put(processes, processKey(each), each);
  for (const each of change.levels) put(levels, each.id, each as Levels | null);
  setList(deviceIds, [...devices.keys()].sort((a, b) => a - b));
  setList(processKeys, sortedProcesses([...processes.values()].map((each) => each.peek())).map(processKey));
  setList(unreadable, change.unreadable);
  setList(leftBehind, change.left_behind);
  setList(directories, change.directories);
  host.value = change.host;
  now.value = change.time_ns;
  version.value++;
  received.value = true;
}

const eventKey = (event: HistoryEvent): string => `${processKey(event)} ${event.number ?? event.event} ${event.time_ns ?? 0}`;

// Also those that the daemon has kept from before: each once, the oldest first.
export function addEvents(more: HistoryEvent[]): void {
  const known = new Set(events.peek().map(eventKey));
  const fresh = more.filter((each) => !known.has(eventKey(each)));
  if (fresh.length === 0) return;
  events.value = [...events.peek(), ...fresh].sort((a, b) => (a.time_ns ?? 0) - (b.time_ns ?? 0)).slice(-MOST_EVENTS);
}

// ---- the worker ----------------------------------------------------------------------------------

let post: (message: ToWorker) => void = () => {};
const wants: Wants = { visible: true, events: false, token: null, at: null };

const say = (): void =>
  post({ type: 'want', ...wants, at: moment.peek(), visible: pausedSince.peek() === null && document.visibilityState === 'visible' });

export const token = (): string | null => wants.token;

export function setToken(value: string): void {
  wants.token = value;
  say();
}

export function wantEvents(yes: boolean): void {
  wants.events = yes;
  say();
}

export function togglePause(): void {
  pausedSince.value = pausedSince.value === null ? Date.now() : null;
  say();
}

export function start(): void {
  const hear = (event: MessageEvent<ToPage>) => {
    const message = event.data;
    if (message.type === 'connection') connection.value = message.connection;
    else if (pausedSince.peek() !== null) return;
    else if (message.type === 'events') addEvents(message.events);
    else take(message);
  };
  // Tabs that show a recording are each at a moment of their own.
  if (typeof SharedWorker === 'function' && !recording.peek()) {
    const worker = new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'ttmem' });
    worker.port.onmessage = hear;
    post = (message) => worker.port.postMessage(message);
  } else {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = hear;
    post = (message) => worker.postMessage(message);
  }
  document.addEventListener('visibilitychange', say);
  addEventListener('pagehide', () => post({ type: 'bye' }));
  addEventListener('pageshow', (event: PageTransitionEvent) => event.persisted && say());
  effect(() => {
    void moment.value;
    say();
  });
}
