// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is held, by the code that it comes from: wide is much, and what a bar is made of stands below it.
// The bars of the first row add up to the total.
import type { Group } from '../format/groups.ts';
import { bytesText, exactText, percentText } from '../format/units.ts';
import { shortLine, visible } from '../format/words.ts';

const NARROW = 0.004; // of the width: cannot be seen

interface Props {
  groups: Group[];
  label: string;
  onPick: (trail: string[]) => void; // the names from the first row down to the bar
}

export function Icicle({ groups, label, onPick }: Props) {
  const total = groups.reduce((sum, group) => sum + group.bytes, 0);
  if (total === 0) return <p class="quiet">Nothing is taken.</p>;
  return (
    <div class="icicle" data-picture role="list" aria-label={`${label}, ${bytesText(total)}`}>
      {groups.filter((group) => group.bytes / total > NARROW).map((group, i) => (
        <Bar key={group.name} group={group} of={total} whole={total} above={[]} onPick={onPick} shade={i % 2} />
      ))}
    </div>
  );
}

interface BarProps {
  group: Group;
  of: number;
  whole: number;
  above: string[];
  shade: number;
  onPick: (trail: string[]) => void;
}

function Bar({ group, of, whole, above, shade, onPick }: BarProps) {
  const name = visible(group.name);
  const trail = [...above, group.name];
  const title = `${name}: ${exactText(group.bytes)}, ${percentText(group.bytes, whole)}, ${group.count} buffers`;
  const below = group.children.filter((child) => child.bytes / whole > NARROW);
  return (
    <div class="icicle-part" role="listitem" style={{ width: `${(100 * group.bytes) / of}%` }}>
      <button type="button" class={`icicle-block shade-${shade}`} title={title} data-bytes={group.bytes} onClick={() => onPick(trail)}>
        <span>{shortLine(name)}</span> <span class="icicle-bytes">{bytesText(group.bytes)}</span>
      </button>
      {below.length > 0 && (
        <div class="icicle-row" role="list" aria-label={`${name}, made of`}>
          {below.map((child) => (
            <Bar key={child.name} group={child} of={group.bytes} whole={whole} above={trail} onPick={onPick} shade={shade} />
          ))}
        </div>
      )}
    </div>
  );
}
