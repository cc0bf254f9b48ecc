// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the page shows of the daemon, as signals: a part of the page is drawn again when what it
// read has changed, and nothing else is.
import { batch, computed, effect, signal, type Signal } from '@preact/signals';
import type { Delta, Device, HistoryEvent, Levels, Process, Snapshot } from './documents.ts';
import { merged, processKey, sortedProcesses } from './merge.ts';
import type { Change, Connection, ToPage, ToWorker, Wants } from './messages.ts';
import { moment, openedKey, recording } from './recording.ts';

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
export const allDevices = computed(() => deviceIds.value.map((id) => devices.get(id)!.value));
export const allProcesses = computed(() => processKeys.value.map((key) => processes.get(key)!.value));

export const hasDead = computed(() => allProcesses.value.some((each) => !each.alive));
export const hasJobs = computed(() => allProcesses.value.some((each) => each.job));

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

const changedBy = <Value extends object>(known: Signal<Value> | undefined, change: Partial<Value>): Value =>
  known ? merged(known.peek(), change) : (change as Value);

function replaceAll(whole: Snapshot): void {
  const ids = new Set(whole.devices.map((each) => each.id));
  const keys = new Set(whole.processes.map(processKey));
  for (const id of devices.keys()) if (!ids.has(id)) devices.delete(id);
  for (const key of processes.keys()) if (!keys.has(key)) processes.delete(key);
  for (const each of whole.devices) put(devices, each.id, each);
  for (const each of whole.processes) put(processes, processKey(each), each);
  setList(directories, whole.directories);
  host.value = whole.host;
}

function merge(delta: Delta): void {
  for (const gone of delta.gone_devices) devices.delete(gone.id);
  for (const gone of delta.gone_processes) processes.delete(processKey(gone));
  for (const each of delta.devices) put(devices, each.id, changedBy(devices.get(each.id), each));
  for (const each of delta.processes) {
    const key = processKey(each);
    put(processes, key, changedBy(processes.get(key), each));
  }
}

function take(change: Change): void {
  if (change.whole) replaceAll(change.whole);
  if (change.delta) merge(change.delta);
  for (const each of change.levels) put(levels, each.id, each as Levels | null);
  setList(deviceIds, [...devices.keys()].sort((a, b) => a - b));
  setList(processKeys, sortedProcesses([...processes.values()].map((each) => each.peek())).map(processKey));
  const last = change.delta ?? change.whole;
  if (last) {
    setList(unreadable, last.unreadable);
    setList(leftBehind, last.left_behind);
    now.value = last.time_ns;
  }
  version.value++;
  received.value = true;
}

const eventKey = (event: HistoryEvent): string => `${processKey(event)} ${event.number ?? event.event} ${event.time_ns ?? 0}`;

// Also those that the daemon has kept from before: each once, the oldest first. Says how many were new.
export function addEvents(more: HistoryEvent[]): number {
  const known = new Set(events.peek().map(eventKey));
  const fresh = more.filter((each) => !known.has(eventKey(each)));
  if (fresh.length === 0) return 0;
  events.value = [...events.peek(), ...fresh].sort((a, b) => (a.time_ns ?? 0) - (b.time_ns ?? 0)).slice(-MOST_EVENTS);
  return fresh.length;
}

// ---- the worker ----------------------------------------------------------------------------------

let post: (message: ToWorker) => void = () => {};
const wants: Wants = { visible: true, events: false, token: null, at: null, recording: openedKey };

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

let onTheWay: HistoryEvent[] = []; // sent before the worker heard of the pause

export function togglePause(): void {
  pausedSince.value = pausedSince.value === null ? Date.now() : null;
  addEvents(onTheWay);
  onTheWay = [];
  say();
}

// One for all tabs, but tabs that show a recording are each at a moment of their own. Whether there is one is still
// asked when this begins to load.
const shared = typeof SharedWorker === 'function' ? new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'ttmem' }) : null;

export function start(): void {
  const hear = (event: MessageEvent<ToPage>) => {
    const message = event.data;
    if (message.type === 'connection') connection.value = message.connection;
    else if (message.type === 'events') pausedSince.peek() === null ? addEvents(message.events) : onTheWay.push(...message.events);
    else if (pausedSince.peek() === null) batch(() => take(message));
  };
  if (shared && !recording.peek()) {
    shared.port.onmessage = hear;
    post = (message) => shared.port.postMessage(message);
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
