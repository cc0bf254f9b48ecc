// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures over minutes to months, out of the daemon's history.
import { useDocument } from '../live/ask.ts';
import { allProcesses, now, pausedSince } from '../live/live.ts';
import type { Figure, HistoryDocument } from '../live/documents.ts';
import { Chart, seriesName, valueText } from '../parts/chart.tsx';
import { Copy } from '../parts/copy.tsx';
import { Empty, Problem } from '../parts/text.tsx';
import { recording } from '../live/recording.ts';
import { csvText } from '../format/csv.ts';
import { parameter, parameters, setParameters } from '../route.ts';
import { FreezeButton } from './compare.tsx';

const RANGES: [string, string][] = [['-15m', '15 minutes'], ['-1h', '1 hour'], ['-6h', '6 hours'], ['-1d', '1 day'], ['-7d', '7 days'], ['-30d', '30 days'], ['-90d', '90 days']];
const OF_BOTH: [string, string][] = [
  ['dram.taken', 'DRAM taken'], ['l1.taken', 'L1 buffers taken'], ['program_l1.resident', 'Program L1, resident'],
  ['kernels.application', 'Kernels of applications, footprint'], ['dispatches', 'Launches per second'],
];
const OF_DEVICES: [string, string][] = [...OF_BOTH, ['headroom.min', 'Least headroom']];
const OF_PROCESSES = OF_BOTH.map(([metric, title]): [string, string] => [`process.${metric}`, title]);
const EVERY_MS = 2000;

export function Time() {
  const of = recording.value;
  const from = parameter('from') || (of ? String(Math.floor(of.first_ns / 1e9)) : '-15m');
  const to = parameter('to') || (of ? String(Math.ceil(of.last_ns / 1e9)) : 'now');
  const zoomed = parameter('to') !== '';
  const byProcess = parameter('by') === 'process';
  const device = parameter('device');
  // In a pause, the time before it: "now" would be of each moment in which something is opened.
  const asked = (text: string): string => (pausedSince.value === null || of ? text : String(Math.round(secondsOf(text, now.peek() / 1e9))));
  const query = `from=${encodeURIComponent(asked(from))}&to=${encodeURIComponent(asked(to))}${device && !byProcess ? `&device=${encodeURIComponent(device)}` : ''}`;
  return (
    <>
      <h1>Time</h1>
      <div class="table-head">
        {!of && <label>
          The last{' '}
          <select value={zoomed ? '' : from} onChange={(event) => setParameters({ from: event.currentTarget.value === '-15m' ? null : event.currentTarget.value, to: null })}>
            {zoomed && <option value="">(zoomed)</option>}
            {RANGES.map(([value, title]) => <option key={value} value={value}>{title}</option>)}
          </select>
        </label>}
        <label>
          by{' '}
          <select value={byProcess ? 'process' : 'device'} onChange={(event) => setParameters({ by: event.currentTarget.value === 'process' ? 'process' : null })}>
            <option value="device">device</option>
            <option value="process">process</option>
          </select>
        </label>
        <Moves from={from} to={to} />
        {zoomed && <button type="button" onClick={() => setParameters({ from: null, to: null })}>{of ? 'All of it' : 'Back to live'}</button>}
        <FreezeButton />
        <span class="quiet">Drag over a chart to zoom all. A line is the largest value of each step (of the headroom, the smallest); ● is the largest (the smallest), ✕ a failure.</span>
      </div>
      <div class="charts">
        {(byProcess ? OF_PROCESSES : of ? OF_BOTH : OF_DEVICES).map(([metric, title]) => (
          <Metric key={metric} path={`/api/v1/history?metric=${metric}&${query}`} title={title} live={!zoomed} />
        ))}
      </div>
      {of ? <p class="quiet">The headroom of a recording is told moment by moment: drag the bar of time, and look at a device.</p> : <p class="quiet"><a href="/recordings">Recordings</a> show every moment exactly.</p>}
    </>
  );
}

const UNITS: Record<string, number> = { m: 60, h: 3600, d: 86_400 };

// Seconds, of a time as the address has it: absolute, or before now.
export function secondsOf(text: string, now: number): number {
  if (text === 'now') return now;
  const before = /^-(\d+)([mhd])$/.exec(text);
  return before ? now - Number(before[1]) * UNITS[before[2]!]! : Number(text);
}

// Pan and zoom without a mouse; the keys are in keys.ts.
export function moveTime(what: 'earlier' | 'later' | 'in' | 'out'): void {
  const of = recording.peek(), now = of ? of.last_ns / 1e9 : Date.now() / 1000;
  const from = secondsOf(parameters.peek().get('from') || (of ? String(of.first_ns / 1e9) : '-15m'), now), to = secondsOf(parameters.peek().get('to') || 'now', now);
  const span = Math.max(2, to - from), shift = what === 'earlier' ? -span / 2 : what === 'later' ? span / 2 : 0, grow = what === 'out' ? span / 2 : what === 'in' ? -span / 4 : 0;
  const next = [Math.floor(from + shift - grow), Math.ceil(to + shift + grow)] as const;
  if (next[1] >= Math.floor(now) && what === 'later') return setParameters({ from: null, to: null }); // live again
  // The first move is a step, and those after it are the same step: back leaves the zoom, with however many clicks it was made.
  setParameters({ from: String(next[0]), to: String(Math.min(next[1], Math.ceil(now))) }, !parameters.peek().get('to'));
}

const Moves = ({ from, to }: { from: string; to: string }) => (
  <span class="tabs" role="group" aria-label="Move in time" data-range={`${from} ${to}`}>
    <button type="button" onClick={() => moveTime('earlier')} title="," aria-label="Earlier">◀</button>
    <button type="button" onClick={() => moveTime('later')} title="." aria-label="Later">▶</button>
    <button type="button" onClick={() => moveTime('in')} title="+" aria-label="Zoom in">+</button>
    <button type="button" onClick={() => moveTime('out')} title="-" aria-label="Zoom out">−</button>
  </span>
);

function Metric({ path, title, live }: { path: string; title: string; live: boolean }) {
  const { data, problem, note } = useDocument<HistoryDocument>(path, live ? EVERY_MS : 3_600_000).value;
  const marks = allProcesses.value.flatMap((process) => process.failures).flatMap((failure) => (failure.time_ns === null ? [] : failure.time_ns / 1e9));
  const zoom = (from: number, to: number) => setParameters({ from: String(Math.floor(from)), to: String(Math.ceil(to)) }, true);
  return (
    <section class="panel" aria-label={title}>
      <div class="table-head">
        <h2>{title}</h2>
        <Copy json={path} csv={() => historyCsv(data)} png name={title} />
      </div>
      <Problem text={problem} note={note} />
      {data && data.series.length === 0 && <Empty title="Nothing was recorded in this time." />}
      {data && data.series.length > 0 && (
        <>
          <Chart data={data} label={title} marks={marks} onZoom={zoom} />
          <Summary data={data} />
        </>
      )}
    </section>
  );
}

function historyCsv(data: HistoryDocument | null): string {
  if (!data) return '';
  const count = data.series[0]?.last.length ?? 0;
  const steps = Array.from({ length: count }, (_, i) => [data.from_s + i * data.step_s, ...data.series.flatMap((each) => [each.min[i] ?? null, each.max[i] ?? null, each.last[i] ?? null])]);
  return csvText([['time_s', ...data.series.flatMap((each) => ['min', 'max', 'last'].map((kind) => `${seriesName(each)} ${kind}`))], ...steps]);
}

const known = (values: Figure[]): number[] => values.filter((value): value is number => value !== null);

function Summary({ data }: { data: HistoryDocument }) {
  return (
    <details>
      <summary>As a table</summary>
      <table class="plain-table">
        <thead>
          <tr><th scope="col">Of</th><th scope="col" class="number">Smallest</th><th scope="col" class="number">Largest</th><th scope="col" class="number">Last</th></tr>
        </thead>
        <tbody>
          {data.series.map((series) => {
            const min = known(series.min), max = known(series.max), last = known(series.last);
            return (
              <tr key={seriesName(series)} data-series={seriesName(series)} data-largest={max.length ? Math.max(...max) : 'null'}>
                <td>{seriesName(series)}</td>
                <td class="number">{min.length ? valueText(Math.min(...min), data.unit) : '?'}</td>
                <td class="number">{max.length ? valueText(Math.max(...max), data.unit) : '?'}</td>
                <td class="number">{valueText(last.at(-1), data.unit)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
