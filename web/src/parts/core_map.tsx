// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The worker cores of a chip as a heat map that is a grid for the keyboard and for screen readers:
// arrows, Home, End, Page Up and Page Down move, Enter opens a core.
import { useRef, useState } from 'preact/hooks';
import type { CoreL1 } from '../live/documents.ts';
import { bytesText, exactText, percentText } from '../format/units.ts';
import { dark } from '../theme.ts';
import { css, heat, inkOn } from './heat.ts';

export interface Heat {
  name: string;
  title: string;
  value: (core: CoreL1) => number | null;
  whole: (core: CoreL1) => number | null; // what "all of it" is
  low?: boolean; // little of it is what should stand out
}

const shared = (core: CoreL1): number | null => (core.l1_bytes === null ? null : core.l1_bytes - core.fixed - core.ring);

export const HEATS: Heat[] = [
  { name: 'used', title: 'L1 used', value: (core) => core.buffers + core.program_l1 + core.l1_small_taken, whole: shared },
  { name: 'free', title: 'L1 free', value: (core) => core.free, whole: shared, low: true },
  { name: 'headroom', title: 'Headroom', value: (core) => core.headroom, whole: shared, low: true },
  { name: 'buffers', title: 'L1 buffers with data here', value: (core) => core.buffers_occupied, whole: shared },
  { name: 'program', title: 'Program L1, resident', value: (core) => core.program_l1, whole: shared },
  { name: 'reserved', title: 'Program L1, reserved', value: (core) => core.reserved, whole: shared },
  { name: 'kernels', title: 'Kernels, footprint', value: (core) => core.kernel_footprint, whole: (core) => core.ring || null },
  { name: 'ring', title: 'Ring used', value: (core) => core.ring_used, whole: (core) => core.ring || null },
];

export const coreName = (core: { x: number; y: number }): string => `${core.x},${core.y}`;

function levelOn(core: CoreL1, how: Heat): number | null {
  const value = how.value(core), whole = how.whole(core);
  if (value === null || !whole) return null;
  const level = Math.min(1, Math.max(0, value / whole));
  return how.low ? 1 - level : level;
}

function describe(core: CoreL1, how: Heat): string {
  const clash = core.headroom !== null && core.headroom < 0 ? ', clash' : '';
  // Begins with what is seen, as people who speak to the page expect.
  return `${coreName(core)} ${bytesText(how.value(core))}${clash}: ${how.title}, ${exactText(how.value(core))}, ${percentText(how.value(core), how.whole(core))}`;
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
  const [at, setAt] = useState<string | null>(chosen);
  const columns = 1 + Math.max(...cores.map((core) => core.x)), rows = 1 + Math.max(...cores.map((core) => core.y));
  const byName = new Map(cores.map((core) => [coreName(core), core]));
  const current = byName.get(at ?? '') ?? byName.get(chosen ?? '') ?? cores[0]!;

  const focus = (core: CoreL1 | undefined) => {
    if (!core) return;
    setAt(coreName(core));
    grid.current?.querySelector<HTMLElement>(`[data-core="${coreName(core)}"]`)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    let { x, y } = current;
    if (move) {
      do [x, y] = [x + move[0], y + move[1]];
      while (x >= 0 && y >= 0 && x < columns && y < rows && !byName.has(`${x},${y}`)); // over cores that are not there
    } else if (event.key === 'Home') x = Math.min(...cores.filter((core) => core.y === y).map((core) => core.x));
    else if (event.key === 'End') x = Math.max(...cores.filter((core) => core.y === y).map((core) => core.x));
    else if (event.key === 'PageUp') y = Math.min(...cores.filter((core) => core.x === x).map((core) => core.y));
    else if (event.key === 'PageDown') y = Math.max(...cores.filter((core) => core.x === x).map((core) => core.y));
    else return;
    event.preventDefault();
    focus(byName.get(`${x},${y}`));
  };

  return (
    <div class={columns > DENSE ? 'core-map dense' : 'core-map'} role="grid" aria-label={label} aria-rowcount={rows} aria-colcount={columns} ref={grid} onKeyDown={onKey}>
      {Array.from({ length: rows }, (_, y) => (
        <div role="row" key={y} class="core-row" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {Array.from({ length: columns }, (_, x) => {
            const core = byName.get(`${x},${y}`);
            if (!core) return <div role="gridcell" key={x} class="core none" aria-label={`${x},${y}: no core`} />;
            return (
              <Cell key={x} core={core} how={how} chosen={coreName(core) === chosen} reachable={core === current} onChoose={onChoose} />
            );
          })}
        </div>
      ))}
    </div>
  );
}

function Cell({ core, how, chosen, reachable, onChoose }: { core: CoreL1; how: Heat; chosen: boolean; reachable: boolean; onChoose: (core: CoreL1) => void }) {
  const level = levelOn(core, how);
  const colour = level === null ? null : heat(level, dark.value);
  const clash = core.headroom !== null && core.headroom < 0;
  return (
    <div
      role="gridcell"
      class={`core${clash ? ' clash' : ''}${chosen ? ' chosen' : ''}${colour ? '' : ' unknown-fill'}`}
      data-core={coreName(core)}
      data-bytes={how.value(core) ?? 'null'}
      tabIndex={reachable ? 0 : -1}
      aria-selected={chosen}
      aria-label={describe(core, how)}
      title={describe(core, how)}
      style={colour ? { background: css(colour), color: inkOn(colour) } : {}}
      onClick={() => onChoose(core)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        onChoose(core);
      }}
    >
      <span class="core-name">{coreName(core)}</span>{' '}
      <span class="core-value">
        {clash && <span aria-hidden="true">⚠ </span>}
        {bytesText(how.value(core))}
      </span>
    </div>
  );
}

export function Scale({ how }: { how: Heat }) {
  const steps = [0, 0.25, 0.5, 0.75, 1];
  return (
    <div class="scale" aria-hidden="true">
      <span>{how.low ? 'all' : '0'}</span>
      {steps.map((step) => (
        <span key={step} class="scale-step" style={{ background: css(heat(step, dark.value)) }} />
      ))}
      <span>{how.low ? '0' : 'all'}</span>
    </div>
  );
}
