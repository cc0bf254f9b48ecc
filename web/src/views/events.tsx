// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What happens, live: the last of it that the daemon kept, and what comes.
import { useEffect } from 'preact/hooks';
import { addEvents, events, pausedSince, togglePause, wantEvents } from '../live/live.ts';
import { ask } from '../live/ask.ts';
import type { HistoryEvent } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { moment, recording } from '../live/recording.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Bytes, Line, Name } from '../parts/text.tsx';
import { clockText, rangesText } from '../format/units.ts';
import { spaced, SPACE_WORDS } from '../format/words.ts';

const what = (event: HistoryEvent): string | null => event.operation ?? event.name ?? event.reason ?? event.ended;
const bytes = (event: HistoryEvent): number | null => event.taken ?? event.footprint;

const COLUMNS: Column<HistoryEvent>[] = [
  { name: 'time', title: 'Time', value: (event) => event.time_ns, number: true, width: '7rem', cell: (event) => clockText(event.time_ns) },
  { name: 'event', title: 'Event', value: (event) => event.event, width: '12rem', cell: (event) => spaced(event.event) },
  { name: 'size', title: 'Bytes', value: bytes, number: true, width: '7rem', cell: (event) => (bytes(event) === null ? '-' : <Bytes value={bytes(event)} />) },
  { name: 'space', title: 'Where', value: (event) => event.space, width: '6rem', cell: (event) => (event.space ? (SPACE_WORDS[event.space] ?? event.space) : '-') },
  { name: 'what', title: 'What', value: what, width: '16rem', cell: (event) => <Name of={what(event)} /> },
  { name: 'line', title: 'Line', value: (event) => event.line, width: '16rem', cell: (event) => <Line of={event.line} /> },
  { name: 'devices', title: 'Devices', value: (event) => rangesText(event.devices.map((each) => each.id)), width: '7rem' },
  { name: 'process', title: 'Process', value: (event) => event.process, width: '10rem', cell: (event) => <Name of={event.process} /> },
  { name: 'pid', title: 'PID', value: (event) => event.pid, number: true, width: '6rem' },
  { name: 'number', title: 'Number', value: (event) => event.number, number: true, width: '6rem' },
];

export function Events() {
  useEffect(() => {
    if (recording.peek()) events.value = []; // those after this moment
    wantEvents(true);
    ask<{ events: HistoryEvent[] }>('/api/v1/log').then((log) => addEvents(log.events)).catch(() => {});
    return () => wantEvents(false);
  }, [moment.value]);
  return (
    <>
      <h1>Events</h1>
      <p>
        <button type="button" onClick={togglePause}>{pausedSince.value === null ? 'Pause' : 'Go on'}</button>{' '}
        <span class="quiet">The last 5,000 at most. A launch of a loaded program is no event: see Launches of a program.</span>
      </p>
      <Table label="events" noun="event" columns={COLUMNS} rows={events.value} rowKey={(event) => `${processKey(event)} ${event.number ?? ''} ${event.event} ${event.time_ns}`}
        sort="-time" empty="Nothing has happened yet." json="/api/v1/log" command="ttmem events" />
    </>
  );
}
