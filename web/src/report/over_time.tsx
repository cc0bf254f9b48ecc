// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What each space held over time, on all devices together; dragging zooms all charts.
import { useState } from 'preact/hooks';
import { Chart } from '../parts/chart.tsx';
import type { HistoryDocument } from '../live/documents.ts';
import { SPACE_WORDS } from '../format/words.ts';
import type { ReportDocument } from './documents.ts';

// The parts of the curve from one to before another.
function historyOf(of: ReportDocument, space: string, [from, to]: [number, number]): HistoryDocument {
  const values = of.curve.most[space] ?? [];
  const step = (of.curve.last_ns - of.curve.first_ns) / 1e9 / Math.max(1, values.length);
  const shown = values.slice(from, to);
  const start = of.curve.first_ns / 1e9 + from * step;
  return {
    metric: `${space}.taken`, unit: 'bytes', from_s: start, to_s: start + step * shown.length, step_s: step,
    series: [{ device: null, unique_id: null, run: null, pid: null, process: 'All devices', min: shown, max: shown, last: shown }],
  };
}

export function OverTime({ of }: { of: ReportDocument }) {
  const count = Object.values(of.curve.most)[0]?.length ?? 0;
  const [range, setRange] = useState<[number, number]>([0, count]);
  const step = (of.curve.last_ns - of.curve.first_ns) / 1e9 / Math.max(1, count);
  const partAt = (seconds: number): number => Math.min(count, Math.max(0, (seconds - of.curve.first_ns / 1e9) / step));
  const zoom = (from: number, to: number) => {
    const first = Math.floor(partAt(from)), last = Math.ceil(partAt(to));
    if (last - first > 3) setRange([first, last]);
  };
  const spaces = Object.keys(of.curve.most).filter((space) => of.curve.most[space]!.some((value) => value > 0));
  if (spaces.length === 0) return <p class="quiet">No buffer was held.</p>;
  return (
    <>
      <p class="quiet">
        The most in each moment, of all devices together; ● is the peak, ✕ a failure. Drag over a chart to zoom.{' '}
        {!of.recorded && 'Of the present only what the processes still remember is known: their last events. '}
        {range[1] - range[0] < count && <button type="button" class="small" onClick={() => setRange([0, count])}>All of it</button>}
      </p>
      <div class="charts">
        {spaces.map((space) => (
          <section key={space} class="panel" aria-label={`${SPACE_WORDS[space] ?? space} over time`}>
            <h3>{SPACE_WORDS[space] ?? space}</h3>
            <Chart data={historyOf(of, space, range)} label={SPACE_WORDS[space] ?? space} marks={of.failed.map((each) => each.time_ns / 1e9)} onZoom={zoom} />
          </section>
        ))}
      </div>
    </>
  );
}
