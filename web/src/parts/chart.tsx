// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A figure over time. All charts of a view share one cursor and one range: dragging zooms them all.
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Figure, HistoryDocument, Series } from '../live/documents.ts';
import { bytesText, countText, dateText } from '../format/units.ts';
import { visible } from '../format/words.ts';
import { dark } from '../theme.ts';

const COLOURS = { light: ['#4200a6', '#188779', '#d67f25', '#5d4c74', '#9945c0', '#a24205', '#3097ff', '#532e28'], dark: ['#62f0ee', '#32ab91', '#ff6115', '#bd8dff', '#d9e429', '#25689c', '#a037ff', '#9c4a37'] };
const DASHES = [[], [6, 3], [2, 2], [10, 3, 2, 3]];
const HEIGHT = 180;
const DAY_S = 86_400;
// Steps of an axis of bytes: 1, 2 and 4 times a power of two.
const BYTE_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

export const seriesName = (series: Series): string =>
  series.device !== null ? `Device ${series.device}` : `${visible(series.process ?? '?')} ${series.pid ?? ''}`;

export function valueText(value: Figure | undefined, unit: string): string {
  if (value === null || value === undefined) return '?';
  return unit === 'bytes' ? bytesText(value) : countText(Math.round(value * 10) / 10);
}

// As everywhere on the page: 24 hours, and the day where a range has more than one.
function timeText(seconds: number, span: number): string {
  const text = dateText(seconds * 1e9);
  return span <= DAY_S ? text.slice(11, span <= 600 ? 19 : 16) : text.slice(5, 16);
}

interface Props {
  data: HistoryDocument;
  label: string;
  marks: number[]; // seconds: failures
  onZoom: (from: number, to: number) => void;
}

// Of the headroom the smallest counts, of all others the largest.
const isWorstLow = (data: HistoryDocument): boolean => data.metric === 'headroom.min';

function dataOf(data: HistoryDocument): uPlot.AlignedData {
  const count = data.series[0]?.last.length ?? 0;
  const times = Array.from({ length: count }, (_, i) => data.from_s + i * data.step_s);
  return [times, ...data.series.map((series) => (isWorstLow(data) ? series.min : series.max))] as uPlot.AlignedData;
}

function options(latest: { current: Props }, width: number, isDark: boolean): uPlot.Options {
  const { data } = latest.current;
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--quiet').trim(), grid = style.getPropertyValue('--line').trim();
  const axis: uPlot.Axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  const colours = COLOURS[isDark ? 'dark' : 'light'];
  return {
    width, height: HEIGHT,
    cursor: { sync: { key: 'ttmem' }, drag: { x: true, y: false, setScale: false } },
    legend: { live: true },
    scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(1, (high ?? 1) * 1.2)] } },
    axes: [
      { ...axis, space: 70, values: (_, values) => values.map((value) => timeText(value, data.to_s - data.from_s)) },
      { ...axis, size: 76, ...(data.unit === 'bytes' ? { incrs: BYTE_STEPS } : {}), values: (_, values) => values.map((value) => valueText(value, data.unit)) },
    ],
    series: [
      { label: 'Time', value: (_, value) => (value === null ? '' : dateText(value * 1e9)) },
      ...data.series.map((series, i): uPlot.Series => ({
        label: seriesName(series),
        stroke: colours[i % colours.length]!,
        dash: DASHES[Math.floor(i / colours.length) % DASHES.length]!,
        width: 1.5,
        points: { show: false },
        value: (_, value) => (value === null ? '' : valueText(value, data.unit)),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 5) return;
          latest.current.onZoom(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      draw: [(plot) => drawMarks(plot, latest.current.marks), (plot) => drawPeak(plot, latest.current.data)],
    },
  };
}

// The largest value in sight (of the headroom, the smallest): where, and how much.
export function peakOf(data: HistoryDocument): { at: number; value: number } | null {
  let peak: { at: number; value: number } | null = null;
  for (const series of data.series) {
    (isWorstLow(data) ? series.min : series.max).forEach((value, i) => {
      if (value === null || (peak && (isWorstLow(data) ? value >= peak.value : value <= peak.value))) return;
      peak = { at: data.from_s + i * data.step_s, value };
    });
  }
  return peak;
}

function drawPeak(plot: uPlot, data: HistoryDocument): void {
  const peak = peakOf(data);
  if (!peak) return;
  const { ctx, bbox } = plot;
  const x = plot.valToPos(peak.at, 'x', true), y = plot.valToPos(peak.value, 'y', true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
  ctx.beginPath();
  ctx.arc(x, y, 4 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.textAlign = x > bbox.left + bbox.width / 2 ? 'right' : 'left';
  ctx.textBaseline = 'bottom';
  ctx.fillText(` ${valueText(peak.value, data.unit)} `, x, y - 5 * devicePixelRatio);
  ctx.restore();
}

function drawMarks(plot: uPlot, marks: number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--bad').trim();
  for (const mark of marks) {
    const x = plot.valToPos(mark, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText('✕', x + 2, bbox.top + 10);
  }
  ctx.restore();
}

export function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = props.data.series.map(seriesName).join('\n');
  const latest = useRef(props);
  latest.current = props;

  const draw = () => {
    plot.current?.destroy();
    const element = box.current;
    if (!element) return; // the view was left
    plot.current = new uPlot(options(latest, element.clientWidth, dark.peek()), dataOf(latest.current.data), element);
  };
  useEffect(draw, [shape, props.data.unit]);
  useSignalEffect(() => {
    void dark.value;
    if (plot.current) queueMicrotask(draw); // when the style sheet has changed
  });
  useEffect(() => {
    plot.current?.setData(dataOf(props.data), false);
    plot.current?.setScale('x', { min: props.data.from_s, max: props.data.to_s });
    plot.current?.redraw();
  }, [props.data]);
  useEffect(() => {
    const watch = new ResizeObserver(() => {
      if (box.current) plot.current?.setSize({ width: box.current.clientWidth, height: HEIGHT });
    });
    watch.observe(box.current!);
    return () => {
      watch.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);
  return <div class="chart" data-picture ref={box} role="img" aria-label={`${props.label} over time; the table below has the figures`} />;
}
