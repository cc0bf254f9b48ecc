// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A figure over time. All charts of a view share one cursor and one range: dragging zooms them all.
import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Figure, HistoryDocument, Series } from '../live/documents.ts';
import { bytesText, countText, dateAt, dateText } from '../format/units.ts';
import { visible } from '../format/words.ts';
import { dark } from '../theme.ts';

const COLOURS = { light: ['#4200a6', '#188779', '#d67f25', '#5d4c74', '#9945c0', '#a24205', '#3097ff', '#532e28'], dark: ['#62f0ee', '#32ab91', '#ff6115', '#bd8dff', '#d9e429', '#25689c', '#a037ff', '#9c4a37'] };
const DASHES = [[], [6, 3], [2, 2], [10, 3, 2, 3]];
const MOST_LINES = 16; // that anybody tells apart
const HEIGHT = 180;
const DAY_S = 86_400;
// A piece of a line, for the legend.
function sample(colour: string, dash: number[]): string {
  let at = 0;
  const stops = dash.map((length, i) => `${i % 2 ? 'transparent' : colour} ${at}px ${(at += length)}px`);
  return dash.length === 0 ? colour : `repeating-linear-gradient(90deg, ${stops.join(', ')})`;
}

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

// What the legend says while no cursor is over the chart.
const lastOf = (series: Series): Figure => series.last.findLast((value) => value !== null) ?? null;

// Of the headroom the smallest counts, of all others the largest.
const isWorstLow = (data: HistoryDocument): boolean => data.metric === 'headroom.min';

function dataOf(data: HistoryDocument): uPlot.AlignedData {
  const count = data.series[0]?.last.length ?? 0;
  const times = Array.from({ length: count }, (_, i) => data.from_s + i * data.step_s);
  return [times, ...data.series.map((series) => (isWorstLow(data) ? series.min : series.max))] as uPlot.AlignedData;
}

interface Shown extends Props {
  places: number[]; // of its lines among all: whatever joins them, each keeps its colour
}

function options(latest: { current: Shown }, width: number, isDark: boolean): uPlot.Options {
  const { data } = latest.current;
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--quiet').trim(), grid = style.getPropertyValue('--line').trim();
  const axis: uPlot.Axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  const colours = COLOURS[isDark ? 'dark' : 'light'];
  const { places } = latest.current;
  const colourOf = (i: number): string => colours[places[i]! % colours.length]!, dashOf = (i: number): number[] => DASHES[Math.floor(places[i]! / colours.length) % DASHES.length]!;
  return {
    width, height: HEIGHT, tzDate: dateAt,
    padding: [16, 30, null, null], // to the right, half of a time: the last step may be the last label
    cursor: { sync: { key: 'ttmem' }, drag: { x: true, y: false, setScale: false } },
    legend: { live: true, markers: { width: 0, fill: (_, i) => (i === 0 ? 'none' : sample(colourOf(i - 1), dashOf(i - 1))) } },
    scales: { x: { range: () => [latest.current.data.from_s, latest.current.data.to_s] }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(1, (high ?? 1) * 1.2)] } },
    axes: [
      { ...axis, space: 70, size: 32, values: (_, values) => values.map((value) => timeText(value, data.to_s - data.from_s)) },
      { ...axis, size: 76, ...(data.unit === 'bytes' ? { incrs: BYTE_STEPS } : {}), values: (_, values) => values.map((value) => valueText(value, data.unit)) },
    ],
    series: [
      { label: 'Time', value: (_, value) => (value === null ? 'last' : dateText(value * 1e9)) },
      ...data.series.map((series, i): uPlot.Series => ({
        label: seriesName(series),
        stroke: colourOf(i),
        dash: dashOf(i),
        width: 1.5,
        points: { show: false },
        value: (_, value, _series, at) => (at === null ? valueText(lastOf(series), data.unit) : value === null ? '' : valueText(value, data.unit)),
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
  // The last step may begin at the very edge.
  const x = Math.min(plot.valToPos(peak.at, 'x', true), bbox.left + bbox.width), y = plot.valToPos(peak.value, 'y', true);
  if (x < bbox.left) return;
  ctx.save();
  ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
  ctx.beginPath();
  ctx.arc(x, y, 4 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.textAlign = x > bbox.left + bbox.width / 2 ? 'right' : 'left';
  ctx.textBaseline = 'bottom';
  const text = ` ${valueText(peak.value, data.unit)} `, above = y - 5 * devicePixelRatio;
  ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--page').trim();
  ctx.lineWidth = 4 * devicePixelRatio; // to be read over lines too
  ctx.strokeText(text, x, above);
  ctx.fillText(text, x, above);
  ctx.restore();
}

function drawMarks(plot: uPlot, marks: number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--bad').trim();
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  for (const mark of marks) {
    const x = plot.valToPos(mark, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText('✕', x, bbox.top - 3 * devicePixelRatio);
  }
  ctx.restore();
}

// The lines that go highest (of the headroom, lowest), where there are more than can be told apart.
function readable(data: HistoryDocument): HistoryDocument {
  if (data.series.length <= MOST_LINES) return data;
  const worst = (series: Series): number => peakOf({ ...data, series: [series] })?.value ?? (isWorstLow(data) ? Infinity : -Infinity);
  const order = [...data.series].sort((a, b) => (isWorstLow(data) ? 1 : -1) * (worst(a) - worst(b)));
  const shown = new Set(order.slice(0, MOST_LINES));
  return { ...data, series: data.series.filter((series) => shown.has(series)) };
}

export function Chart({ data: all, ...others }: Props) {
  const data = useMemo(() => readable(all), [all]);
  const props: Shown = { ...others, data, places: data.series.map((series) => all.series.indexOf(series)) };
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = [data.unit, ...data.series.map((series, i) => `${props.places[i]} ${seriesName(series)}`)].join('\n'), drawn = useRef('');
  const latest = useRef(props);
  latest.current = props;

  const draw = () => {
    plot.current?.destroy();
    const element = box.current;
    if (!element) return; // the view was left
    plot.current = new uPlot(options(latest, element.clientWidth, dark.peek()), dataOf(latest.current.data), element);
  };
  // Not both: a plot is not ready for other data at once.
  useEffect(() => {
    if (drawn.current === shape) plot.current?.setData(dataOf(data));
    else draw();
    drawn.current = shape;
  }, [data, shape]);
  useSignalEffect(() => {
    void dark.value;
    if (plot.current) queueMicrotask(draw); // when the style sheet has changed
  });
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
  return (
    <>
      <div class="chart" data-picture ref={box} role="img" aria-label={`${props.label} over time; the table below has the figures`} />
      {all.series.length > MOST_LINES && <p class="quiet">The {MOST_LINES} of {all.series.length} with the {isWorstLow(all) ? 'least' : 'most'}; the table has all.</p>}
    </>
  );
}
