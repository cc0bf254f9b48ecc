// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What happens, live: the last of it that the daemon kept, and what comes.
import { useEffect, useState } from 'preact/hooks';
import { addEvents, connection, events, pausedSince, togglePause, wantEvents } from '../live/live.ts';
import { ask } from '../live/ask.ts';
import type { HistoryEvent } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { moment, recording } from '../live/recording.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Bytes, Line, Name, Problem } from '../parts/text.tsx';
import { clockText, rangesText } from '../format/units.ts';
import { KIND_WORDS, spaced, SPACE_WORDS } from '../format/words.ts';

const what = (event: HistoryEvent): string | null => event.operation ?? event.name ?? (event.reason && (KIND_WORDS[event.reason] ?? event.reason)) ?? event.ended;
const bytes = (event: HistoryEvent): number | null => event.taken ?? event.footprint;

const COLUMNS: Column<HistoryEvent>[] = [
  { name: 'time', title: 'Time', value: (event) => event.time_ns, number: true, width: '7rem', cell: (event) => clockText(event.time_ns) },
  { name: 'event', title: 'Event', value: (event) => event.event, width: '11rem', cell: (event) => spaced(event.event) },
  { name: 'size', title: 'Bytes', value: bytes, number: true, width: '7rem', cell: (event) => (bytes(event) === null ? '-' : <Bytes value={bytes(event)} />) },
  { name: 'space', title: 'Where', value: (event) => event.space, width: '6rem', cell: (event) => (event.space ? (SPACE_WORDS[event.space] ?? event.space) : '-') },
  { name: 'what', title: 'What', value: what, width: '15rem', cell: (event) => <Name of={what(event)} /> },
  { name: 'line', title: 'Line', value: (event) => event.line, width: '15rem', cell: (event) => <Line of={event.line} /> },
  { name: 'devices', title: 'Devices', value: (event) => rangesText(event.devices.map((each) => each.id)), width: '7rem' },
  { name: 'process', title: 'Process', value: (event) => event.process, width: '9rem', cell: (event) => <Name of={event.process} /> },
  { name: 'pid', title: 'PID', value: (event) => event.pid, number: true, width: '6rem' },
  { name: 'number', title: 'Number', value: (event) => event.number, number: true, width: '6rem' },
];

interface Log {
  problem: string | null;
  gap: number | null; // when it begins, if it does not reach back to what was shown before: nobody knows what came between
}

// What the daemon kept, when the view opens and whenever the daemon was away.
function useLog(): Log | null {
  const [log, setLog] = useState<Log | null>(null);
  const live = connection.value.state === 'live';
  useEffect(() => {
    if (recording.peek()) events.value = []; // those after this moment
    const before = events.peek().length;
    ask<{ events: HistoryEvent[] }>('/api/v1/log').then(
      ({ events: kept }) => {
        const cut = addEvents(kept) === kept.length && before > 0 && kept.length > 0;
        setLog({ problem: null, gap: cut ? kept[0]!.time_ns : null });
      },
      (problem: Error) => setLog({ problem: problem.message, gap: null }),
    );
  }, [moment.value, live]);
  return log;
}

export function Events() {
  useEffect(() => {
    wantEvents(true);
    return () => wantEvents(false);
  }, []);
  const log = useLog();
  return (
    <>
      <h1>Events</h1>
      <p>
        {!recording.value && <><button type="button" onClick={togglePause}>{pausedSince.value === null ? 'Pause' : 'Go on'}</button>{' '}</>}
        <span class="quiet">{recording.value ? 'The last ones before this moment.' : 'The last 5,000 at most.'} A launch of a loaded program is no event: <a href="/programs">Programs</a> tell which ran when.</span>
      </p>
      <Problem text={log?.problem ?? null} />
      {log?.gap && <p class="notice">Some events before {clockText(log.gap)} are missing: there were more than the daemon keeps.</p>}
      <Table label="events" noun="event" columns={COLUMNS} rows={events.value.length > 0 || log?.problem === null ? events.value : null} rowKey={(event) => `${processKey(event)} ${event.number ?? ''} ${event.event} ${event.time_ns}`}
        sort="-time" empty="Nothing has happened yet." json="/api/v1/log" command="ttmem events" />
    </>
  );
}
