// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of a chip as a heat map that is a grid for the keyboard and for screen readers: arrows, Home,
// End, Page Up and Page Down move, Enter opens a core. Cores that do no work of programs (ethernet,
// dispatch, DRAM) stand where they are, and say what they are.
import { useRef, useState } from 'preact/hooks';
import type { CoreL1 } from '../live/documents.ts';
import { chipOf, coreName, place } from '../format/cores.ts';
import { bytesText, exactText, percentText, rateText } from '../format/units.ts';
import { ROLE_WORDS } from '../format/words.ts';
import { dark } from '../theme.ts';
import { css, heat, inkOn } from './heat.ts';

export interface Heat {
  name: string;
  title: string;
  value: (core: CoreL1) => number | null;
  whole: (core: CoreL1) => number | null; // what "all of it" is
  low?: boolean; // little of it is what should stand out
  rate?: boolean; // per second, no bytes
  everywhere?: boolean; // cores that are no workers have it too
}

const shared = (core: CoreL1): number | null => (core.l1_bytes === null ? null : core.l1_bytes - core.fixed - core.ring);

export const HEATS: Heat[] = [
  { name: 'used', title: 'L1 used', value: (core) => core.buffers + core.program_l1 + core.l1_small_taken, whole: shared },
  { name: 'free', title: 'L1 free', value: (core) => core.free, whole: shared, low: true },
  { name: 'headroom', title: 'Headroom', value: (core) => core.headroom, whole: shared, low: true },
  { name: 'buffers', title: 'L1 buffers with data here', value: (core) => core.buffers_occupied, whole: shared },
  { name: 'program', title: 'Program L1, resident', value: (core) => core.program_l1, whole: shared },
  { name: 'reserved', title: 'Program L1, reserved', value: (core) => core.reserved, whole: shared },
  { name: 'kernels', title: 'Kernels, footprint', value: (core) => core.kernel_footprint, whole: (core) => core.ring || null, everywhere: true },
  { name: 'ring', title: 'Ring used', value: (core) => core.ring_used, whole: (core) => core.ring || null, everywhere: true },
];

export const valueText = (core: CoreL1, how: Heat): string => {
  const value = how.value(core);
  return !how.rate ? bytesText(value) : value === null ? '?' : `${rateText(value)}/s`;
};

const isWorker = (core: CoreL1): boolean => core.role === 'worker';
const isClash = (core: CoreL1): boolean => core.headroom !== null && core.headroom < 0;
const has = (core: CoreL1, how: Heat): boolean => isWorker(core) || how.everywhere === true;

function levelOn(core: CoreL1, how: Heat): number | null {
  const value = how.value(core), whole = how.whole(core);
  if (value === null || !whole || !has(core, how)) return null;
  const level = Math.min(1, Math.max(0, value / whole));
  return how.low ? 1 - level : level;
}

const SHORT: Record<string, string> = { dispatch: 'dispatch', active_eth: 'eth', idle_eth: 'idle eth', dram: 'DRAM' };

function describe(core: CoreL1, how: Heat): string {
  const clash = isClash(core) ? ', clash' : '';
  // Begins with what is seen, as people who speak to the page expect.
  const seen = isWorker(core) ? coreName(core) : `${SHORT[core.role] ?? core.role} ${core.x},${core.y}`;
  const what = isWorker(core) ? '' : `, ${ROLE_WORDS[core.role] ?? core.role} core`;
  if (!has(core, how)) return `${seen}${what}`;
  const exact = how.rate ? '' : `, ${exactText(how.value(core))}, ${percentText(how.value(core), how.whole(core))}`;
  return `${seen} ${valueText(core, how)}${clash}${what}: ${how.title}${exact}`;
}

const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const DENSE = 10; // columns

interface Props {
  cores: CoreL1[];
  how: Heat;
  chosen: string | null;
  onChoose: (core: CoreL1) => void;
  label: string;
}

export function CoreMap({ cores, how, chosen, onChoose, label }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<string | null>(null);
  const { columns, rows, at: places } = chipOf(cores);
  const find = (name: string | null): string | undefined => [...places].find(([, core]) => coreName(core) === name)?.[0];
  const current = (at && places.has(at) ? at : undefined) ?? find(chosen) ?? [...places].find(([, core]) => isWorker(core))?.[0] ?? [...places.keys()][0]!;

  const focus = (to: string) => {
    const core = places.get(to);
    if (!core) return;
    setAt(to);
    grid.current?.querySelector<HTMLElement>(`[data-place="${to}"]`)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    let [x, y] = current.split(',').map(Number) as [number, number];
    const taken = [...places.keys()].map((each) => each.split(',').map(Number) as [number, number]);
    const inRow = taken.filter((each) => each[1] === y).map((each) => each[0]), inColumn = taken.filter((each) => each[0] === x).map((each) => each[1]);
    if (move) {
      do [x, y] = [x + move[0], y + move[1]];
      while (x >= 0 && y >= 0 && x < columns && y < rows && !places.has(place(x, y))); // over places without a core
    } else if (event.key === 'Home') x = Math.min(...inRow);
    else if (event.key === 'End') x = Math.max(...inRow);
    else if (event.key === 'PageUp') y = Math.min(...inColumn);
    else if (event.key === 'PageDown') y = Math.max(...inColumn);
    else return;
    event.preventDefault();
    focus(place(x, y));
  };

  return (
    <div class={columns > DENSE ? 'core-map dense' : 'core-map'} role="grid" aria-label={label} aria-rowcount={rows} aria-colcount={columns} ref={grid} onKeyDown={onKey}>
      {Array.from({ length: rows }, (_, y) => (
        <div role="row" key={y} class="core-row" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {Array.from({ length: columns }, (_, x) => {
            const here = place(x, y), core = places.get(here);
            if (!core) return <div role="gridcell" key={x} class="core none" aria-label="no core: harvested, or nothing is there" title="no core: harvested, or nothing is there" />;
            return (
              <Cell key={x} core={core} at={here} how={how} chosen={coreName(core) === chosen} reachable={here === current}
                onChoose={() => { setAt(here); onChoose(core); }} />
            );
          })}
        </div>
      ))}
    </div>
  );
}

interface CellProps {
  core: CoreL1;
  at: string;
  how: Heat;
  chosen: boolean;
  reachable: boolean;
  onChoose: () => void;
}

function Cell({ core, at, how, chosen, reachable, onChoose }: CellProps) {
  const level = levelOn(core, how);
  const colour = level === null ? null : heat(level, dark.value);
  const worker = isWorker(core), clash = isClash(core);
  const kind = worker ? '' : ` other ${core.role}`;
  return (
    <div
      role="gridcell"
      class={`core${kind}${clash ? ' clash' : ''}${chosen ? ' chosen' : ''}${colour || !worker ? '' : ' unknown-fill'}`}
      data-place={at}
      data-core={worker ? coreName(core) : undefined}
      data-other={worker ? undefined : coreName(core)}
      data-bytes={how.value(core) ?? 'null'}
      tabIndex={reachable ? 0 : -1}
      aria-selected={chosen}
      aria-label={describe(core, how)}
      title={describe(core, how)}
      style={colour ? { background: css(colour), color: inkOn(colour) } : {}}
      onClick={onChoose}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        onChoose();
      }}
    >
      <span class="core-name">{!worker && <><span>{SHORT[core.role] ?? core.role}</span>{' '}</>}<span>{`${core.x},${core.y}`}</span></span>{' '}
      {has(core, how) && (
        <span class="core-value">
          {clash && <span aria-hidden="true">⚠ </span>}
          {valueText(core, how)}
        </span>
      )}
    </div>
  );
}

export function Scale({ how, most }: { how: Heat; most: string }) {
  const steps = [0, 0.25, 0.5, 0.75, 1];
  return (
    <div class="scale" aria-hidden="true">
      <span>{how.low ? most : '0'}</span>
      {steps.map((step) => (
        <span key={step} class="scale-step" style={{ background: css(heat(step, dark.value)) }} />
      ))}
      <span>{how.low ? '0' : most}</span>
    </div>
  );
}
