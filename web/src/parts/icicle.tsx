// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What a process holds, by operation and line: wide is much. The bars of a row add up to the total.
import type { Holding } from '../live/documents.ts';
import { grouped, sum, type Group } from '../format/groups.ts';
import { bytesText, exactText, percentText } from '../format/units.ts';
import { shortLine, visible } from '../format/words.ts';
import { go } from '../route.ts';

const NARROW = 0.004; // of the width: cannot be seen

export function Icicle({ holdings, label }: { holdings: Holding[]; label: string }) {
  const total = sum(holdings);
  if (total === 0) return <p class="quiet">Nothing is taken.</p>;
  const groups = grouped(holdings, [(each) => each.operation ?? '(no operation)', (each) => each.line ?? '(no line)']);
  return (
    <div class="icicle" role="list" aria-label={`${label}, ${bytesText(total)} by operation and line`}>
      {groups.filter((group) => group.bytes / total > NARROW).map((group, i) => (
        <Block key={group.name} group={group} of={total} whole={total} field="op" shade={i % 2} />
      ))}
    </div>
  );
}

function Block({ group, of, whole, field, shade }: { group: Group; of: number; whole: number; field: string; shade: number }) {
  const name = visible(group.name);
  const title = `${name}: ${exactText(group.bytes)}, ${percentText(group.bytes, whole)}, ${group.count} buffers`;
  const search = group.name.startsWith('(') ? '' : `${field}="${group.name.replaceAll('"', '')}"`;
  return (
    <div class="icicle-part" role="listitem" style={{ width: `${(100 * group.bytes) / of}%` }}>
      <button type="button" class={`icicle-block shade-${shade}`} title={title} data-bytes={group.bytes}
        onClick={() => go(`${location.pathname}?filter=${encodeURIComponent(search)}`)}>
        <span>{field === 'line' ? shortLine(name) : name}</span> <span class="icicle-bytes">{bytesText(group.bytes)}</span>
      </button>
      {group.children.length > 0 && (
        <div class="icicle-row" role="list" aria-label={`${name} by line`}>
          {group.children.filter((child) => child.bytes / whole > NARROW).map((child) => (
            <Block key={child.name} group={child} of={group.bytes} whole={whole} field="line" shade={shade} />
          ))}
        </div>
      )}
    </div>
  );
}
