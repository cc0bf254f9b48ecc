// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reads the stream, keeps the snapshot up to date and tells pages what changed, a few times per
// second. One for all tabs where the browser can share it: a browser opens only six connections to
// a host, and each stream holds one.
import type { Delta, HistoryEvent, Levels, Snapshot } from './documents.ts';
import { apply, processKey, sortedDevices, sortedProcesses, stateOf, type State } from './merge.ts';
import type { Change, Connection, ToPage, ToWorker, Wants } from './messages.ts';
import { MessageReader, type Message } from './sse.ts';

const TELL_EVERY_MS = 250; // as fast as anybody reads
const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 5000;
const SILENT_MS = 40_000; // the daemon sends a comment every 15 seconds
const MOST_EVENTS = 1000; // between two looks

interface Port {
  postMessage(message: ToPage): void;
}

interface Page {
  port: Port;
  wants: Wants;
  needsAll: boolean;
}

const pages = new Map<Port, Page>();
let state: State | null = null;
let connection: Connection = { state: 'connecting' };
const levels = new Map<number, Levels>();
const changed = { devices: new Set<number>(), processes: new Set<string>(), levels: new Set<number>(), any: false };
let events: HistoryEvent[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let stream: { url: string; token: string | null; abort: AbortController } | null = null;
let lastId: string | null = null;
let retryMs = RETRY_FIRST_MS;

// ---- to the pages --------------------------------------------------------------------------------

function everything(): Change {
  return change(true, state!.devices.keys(), state!.processes.keys(), levels.keys());
}

function change(full: boolean, devices: Iterable<number>, processes: Iterable<string>, cores: Iterable<number>): Change {
  const deviceIds = [...devices], processKeys = [...processes];
  const { host, time_ns, unreadable, left_behind, directories } = state!.snapshot;
  return {
    type: 'change', full, host, time_ns, unreadable, left_behind, directories,
    devices: sortedDevices(deviceIds.flatMap((id) => state!.devices.get(id) ?? [])),
    processes: sortedProcesses(processKeys.flatMap((key) => state!.processes.get(key) ?? [])),
    goneDevices: deviceIds.filter((id) => !state!.devices.has(id)),
    goneProcesses: processKeys.filter((key) => !state!.processes.has(key)),
    levels: [...cores].flatMap((id) => levels.get(id) ?? []),
  };
}

function tell(): void {
  timer = undefined;
  if (!state) return;
  const some = changed.any ? change(false, changed.devices, changed.processes, changed.levels) : null;
  for (const page of pages.values()) {
    if (!page.wants.visible) {
      page.needsAll ||= changed.any;
      continue;
    }
    if (page.needsAll) page.port.postMessage(everything());
    else if (some) page.port.postMessage(some);
    page.needsAll = false;
    if (events.length > 0 && page.wants.events) page.port.postMessage({ type: 'events', events });
  }
  for (const set of [changed.devices, changed.processes, changed.levels]) set.clear();
  changed.any = false;
  events = [];
}

function tellSoon(): void {
  timer ??= setTimeout(tell, TELL_EVERY_MS);
}

function setConnection(next: Connection): void {
  connection = next;
  for (const page of pages.values()) page.port.postMessage({ type: 'connection', connection });
}

// ---- from the daemon -----------------------------------------------------------------------------

function receive(message: Message): void {
  if (message.id !== null) lastId = message.id;
  const data: unknown = JSON.parse(message.data);
  if (message.event === 'snapshot') {
    state = stateOf(data as Snapshot);
    levels.clear();
    for (const page of pages.values()) page.needsAll = true;
    tell();
  } else if (message.event === 'delta' && state) {
    const delta = data as Delta;
    apply(state, delta);
    for (const each of [...delta.devices, ...delta.gone_devices]) changed.devices.add(each.id);
    for (const each of [...delta.processes, ...delta.gone_processes]) changed.processes.add(processKey(each));
    changed.any = true;
  } else if (message.event === 'cores') {
    for (const each of (data as { devices: Levels[] }).devices) {
      levels.set(each.id, each);
      changed.levels.add(each.id);
    }
    changed.any = true;
  } else if (message.event === 'event') {
    events.push(data as HistoryEvent);
    if (events.length > 2 * MOST_EVENTS) events = events.slice(-MOST_EVENTS);
  }
  tellSoon();
}

async function read(url: string, token: string | null, signal: AbortSignal, heard: () => void): Promise<void> {
  const headers: Record<string, string> = { Accept: 'text/event-stream' };
  if (token) headers['Authorization'] = `Bearer ${token}`;
  if (lastId && state) headers['Last-Event-ID'] = lastId;
  const response = await fetch(url, { headers, signal, cache: 'no-store' });
  if (response.status === 401) {
    setConnection({ state: 'token' });
    return;
  }
  if (!response.ok || !response.body) throw new Error(`the daemon answered ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const messages = new MessageReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done && state && url.includes('&at=')) return; // a recording stands still
    if (done) throw new Error('the daemon ended the stream');
    heard();
    for (const message of messages.push(value)) receive(message);
    if (connection.state !== 'live') setConnection({ state: 'live' });
    retryMs = RETRY_FIRST_MS;
  }
}

async function follow(url: string, token: string | null): Promise<void> {
  const abort = new AbortController();
  stream = { url, token, abort };
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => abort.abort(new Error('the daemon is silent')), SILENT_MS);
  };
  try {
    heard();
    await read(url, token, abort.signal, heard);
  } catch (problem) {
    if (stream?.abort !== abort) return; // replaced by another
    const since = connection.state === 'lost' ? connection.since : Date.now();
    setConnection({ state: 'lost', since, reason: problem instanceof Error ? problem.message : String(problem) });
    setTimeout(() => {
      if (stream?.abort === abort) void follow(url, token);
    }, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MOST_MS);
  } finally {
    clearTimeout(silence);
  }
}

// The one stream is what all pages together need.
function restream(): void {
  const wants = [...pages.values()].map((page) => page.wants);
  if (wants.length === 0) {
    stream?.abort.abort();
    stream = null;
    return;
  }
  const at = wants.map((each) => each.at).find((each) => each !== null) ?? null;
  const url = `/api/v1/events?events=${wants.some((each) => each.events) ? 1 : 0}&brief=1&cores=1${at === null ? '' : `&at=${encodeURIComponent(at)}`}`;
  const token = wants.map((each) => each.token).find((each) => each !== null) ?? null;
  if (stream && stream.url === url && stream.token === token) return;
  const old = stream;
  lastId = null; // another stream begins with a snapshot of its own
  void follow(url, token);
  old?.abort.abort();
}

// ---- pages come and go ---------------------------------------------------------------------------

function hear(port: Port, message: ToWorker): void {
  if (message.type === 'bye') {
    pages.delete(port);
  } else {
    const { visible, events: wantsEvents, token, at } = message;
    const known = pages.get(port);
    const page = known ?? { port, wants: message, needsAll: true };
    page.wants = { visible, events: wantsEvents, token, at };
    pages.set(port, page);
    if (!known) port.postMessage({ type: 'connection', connection });
    if (state && visible && page.needsAll) tell();
  }
  restream();
}

const scope = self as unknown as {
  onconnect?: ((event: MessageEvent) => void) | null;
  onmessage?: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: ToPage): void;
};

if ('onconnect' in scope) {
  scope.onconnect = (event) => {
    const port = event.ports[0]!;
    port.onmessage = (heard: MessageEvent<ToWorker>) => hear(port as Port, heard.data);
  };
} else {
  scope.onmessage = (event) => hear(scope, event.data);
}
