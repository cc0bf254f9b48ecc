// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Reads the stream, keeps the snapshot up to date and tells pages what changed, a few times per
// second. One for all tabs where the browser can share it: a browser opens only six connections to
// a host, and each stream holds one.
import type { Delta, HistoryEvent, Levels, Snapshot } from './documents.ts';
import { apply, Gathered, stateOf, type State } from './merge.ts';
import type { Change, Connection, ToPage, ToWorker, Wants } from './messages.ts';
import { MessageReader, type Message } from './sse.ts';

// As fast as anybody reads. Where a whole machine changes, half as often: a browser that makes less than a megabyte of
// garbage per second keeps its heap small, and one that makes more lets it grow for minutes.
const TELL_EVERY_MS = 500, TELL_MUCH_EVERY_MS = 1000;
const MUCH = 64; // devices and processes that changed
const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 5000;
const SILENT_MS = 40_000; // the daemon sends a comment every 15 seconds
const MOST_EVENTS = 1000; // between two looks
const MOST_KEPT = 5000; // for a page that is paused: its list has no more

interface Port {
  postMessage(message: ToPage): void;
}

interface Page {
  port: Port;
  wants: Wants;
  needsAll: boolean;
  events: HistoryEvent[]; // that it wants and was not told, as it is paused or not in sight
}

const pages = new Map<Port, Page>();
let state: State | null = null;
let connection: Connection = { state: 'connecting' };
const levels = new Map<number, Levels>();
const changed = { gathered: new Gathered(), levels: new Set<number>() };
let events: HistoryEvent[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
let much = false; // changed the last time
let stream: { url: string; token: string | null; abort: AbortController } | null = null;
let lastId: string | null = null;
let retryMs = RETRY_FIRST_MS;

// ---- to the pages --------------------------------------------------------------------------------

const levelsOf = (ids: Iterable<number>): Levels[] => [...ids].flatMap((id) => levels.get(id) ?? []);

function everything(): Change {
  const devices = [...state!.devices.values()], processes = [...state!.processes.values()];
  return { type: 'change', whole: { ...state!.snapshot, devices, processes }, delta: null, levels: levelsOf(levels.keys()) };
}

// What changed, for each page to merge: whole objects, several times a second, would be copied and
// thrown away for a few figures in them.
function news(): Change | null {
  const delta = changed.gathered.take();
  much = delta !== null && delta.devices.length + delta.processes.length >= MUCH;
  return delta === null && changed.levels.size === 0 ? null : { type: 'change', whole: null, delta, levels: levelsOf(changed.levels) };
}

function tell(): void {
  timer = undefined;
  if (!state) return;
  const some = news();
  for (const page of pages.values()) {
    if (page.wants.events) page.events = page.events.concat(events).slice(-MOST_KEPT);
    else page.events = [];
    if (!page.wants.visible) {
      page.needsAll ||= some !== null;
      continue;
    }
    if (page.needsAll) page.port.postMessage(everything());
    else if (some) page.port.postMessage(some);
    page.needsAll = false;
    if (page.events.length > 0) page.port.postMessage({ type: 'events', events: page.events });
    page.events = [];
  }
  changed.levels.clear();
  events = [];
}

function tellSoon(): void {
  timer ??= setTimeout(tell, much ? TELL_MUCH_EVERY_MS : TELL_EVERY_MS);
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
    changed.gathered.clear();
    changed.levels.clear();
    for (const page of pages.values()) page.needsAll = true;
    tell();
  } else if (message.event === 'delta' && state) {
    const delta = data as Delta;
    apply(state, delta);
    changed.gathered.add(delta);
  } else if (message.event === 'cores') {
    for (const each of (data as { devices: Levels[] }).devices) {
      levels.set(each.id, each);
      changed.levels.add(each.id);
    }
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
    setConnection({ state: 'token', refused: token !== null });
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
  const opened = wants.map((each) => each.recording).find((each) => each !== null) ?? null;
  const which = `${at === null ? '' : `&at=${encodeURIComponent(at)}`}${opened === null ? '' : `&recording=${encodeURIComponent(opened)}`}`;
  const url = `/api/v1/events?events=${wants.some((each) => each.events) ? 1 : 0}&brief=1&cores=1${which}`;
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
    const { visible, events: wantsEvents, token, at, recording } = message;
    const known = pages.get(port);
    const page = known ?? { port, wants: message, needsAll: true, events: [] };
    page.wants = { visible, events: wantsEvents, token, at, recording };
    pages.set(port, page);
    if (!known) port.postMessage({ type: 'connection', connection });
    if (state && visible && (page.needsAll || page.events.length > 0)) tell();
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
