// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The figures over minutes to months, out of the daemon's history.
import { useDocument } from '../live/ask.ts';
import { allProcesses } from '../live/live.ts';
import type { Figure, HistoryDocument } from '../live/documents.ts';
import { Chart, seriesName, valueText } from '../parts/chart.tsx';
import { Copy } from '../parts/copy.tsx';
import { Empty, Problem } from '../parts/text.tsx';
import { recording } from '../live/recording.ts';
import { csvText } from '../format/csv.ts';
import { parameter, setParameters } from '../route.ts';
import { FreezeButton } from './compare.tsx';
import { Recordings } from './recordings.tsx';

const RANGES: [string, string][] = [['-15m', '15 minutes'], ['-1h', '1 hour'], ['-6h', '6 hours'], ['-1d', '1 day'], ['-7d', '7 days'], ['-30d', '30 days'], ['-90d', '90 days']];
const OF_DEVICES: [string, string][] = [
  ['dram.taken', 'DRAM taken'], ['l1.taken', 'L1 buffers taken'], ['program_l1.resident', 'Program L1, resident'],
  ['headroom.min', 'Least headroom'], ['kernels.application', 'Kernels of applications, footprint'], ['dispatches', 'Launches per second'],
];
const OF_PROCESSES: [string, string][] = [
  ['process.dram.taken', 'DRAM taken'], ['process.l1.taken', 'L1 buffers taken'], ['process.program_l1.resident', 'Program L1, resident'],
];
const EVERY_MS = 2000;

export function Time() {
  const of = recording.value;
  const from = parameter('from') || (of ? String(Math.floor(of.first_ns / 1e9)) : '-15m');
  const to = parameter('to') || (of ? String(Math.ceil(of.last_ns / 1e9)) : 'now');
  const zoomed = parameter('to') !== '';
  const byProcess = parameter('by') === 'process';
  const device = parameter('device');
  const query = `from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${device && !byProcess ? `&device=${encodeURIComponent(device)}` : ''}`;
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
        {zoomed && <button type="button" onClick={() => setParameters({ from: null, to: null })}>{of ? 'All of it' : 'Back to live'}</button>}
        <FreezeButton />
        <span class="quiet">Drag over a chart to zoom all. A line is the largest value of each step (of the headroom, the smallest); ● is the largest (the smallest), ✕ a failure.</span>
      </div>
      <div class="charts">
        {(byProcess ? OF_PROCESSES : OF_DEVICES).map(([metric, title]) => (
          <Metric key={metric} path={`/api/v1/history?metric=${metric}&${query}`} title={title} live={!zoomed} />
        ))}
      </div>
      {!of && <Recordings />}
    </>
  );
}

function Metric({ path, title, live }: { path: string; title: string; live: boolean }) {
  const { data, problem } = useDocument<HistoryDocument>(path, live ? EVERY_MS : 3_600_000).value;
  const marks = allProcesses.value.flatMap((process) => process.failures).flatMap((failure) => (failure.time_ns === null ? [] : failure.time_ns / 1e9));
  const zoom = (from: number, to: number) => setParameters({ from: String(Math.floor(from)), to: String(Math.ceil(to)) });
  return (
    <section class="panel" aria-label={title}>
      <div class="table-head">
        <h2>{title}</h2>
        <Copy json={path} csv={() => historyCsv(data)} png name="history" />
      </div>
      <Problem text={problem} />
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
              <tr key={seriesName(series)}>
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
