// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The kernel-config rings of a device: slices of programs, and the holes between them.
import type { RingContents } from '../live/documents.ts';
import { processKey } from '../live/merge.ts';
import { visible } from '../format/words.ts';
import { bytesText, hexText } from '../format/units.ts';
import { Bytes, Name } from './text.tsx';

function RingStrip({ ring }: { ring: RingContents }) {
  const percent = (bytes: number): string => `${(100 * bytes) / ring.capacity}%`;
  return (
    <div class="ring-strip" role="img" aria-label={`${ring.core_type}: ${ring.slices.length} slices, ${bytesText(ring.free)} free`}>
      {ring.slices.map((slice, i) => (
        <span
          key={slice.begin}
          class={`ring-slice ${slice.live ? (i % 2 ? 'odd' : 'even') : 'gone'}`}
          data-slice={slice.end - slice.begin}
          title={`${visible(slice.name ?? 'no name')}, ${bytesText(slice.end - slice.begin)}${slice.live ? '' : ', its program is gone'}${slice.in_use ? ', in use' : ''}`}
          style={{ left: percent(slice.begin - ring.base), width: percent(slice.end - slice.begin) }}
        >
          {visible(slice.name ?? '')}
        </span>
      ))}
    </div>
  );
}

function RingTable({ ring }: { ring: RingContents }) {
  if (ring.slices.length === 0) return null;
  return (
    <details>
      <summary>{ring.slices.length === 1 ? 'Its slice' : `Its ${ring.slices.length} slices`} as a table</summary>
      <table class="plain-table">
        <thead>
          <tr><th scope="col">From</th><th scope="col">To</th><th scope="col" class="number">Bytes</th><th scope="col">Program</th><th scope="col">State</th></tr>
        </thead>
        <tbody>
          {ring.slices.map((slice) => (
            <tr key={slice.begin}>
              <td class="mono">{hexText(slice.begin)}</td>
              <td class="mono">{hexText(slice.end)}</td>
              <td class="number"><Bytes value={slice.end - slice.begin} /></td>
              <td><Name of={slice.name} none="no name" /></td>
              <td>{!slice.live ? 'its program is gone' : slice.in_use ? 'in use' : 'loaded'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

export function Rings({ rings }: { rings: RingContents[] }) {
  const known = rings.filter((ring) => ring.capacity > 0);
  if (known.length === 0) return <p class="quiet">No process that lives has a ring here.</p>;
  return (
    <div class="rings" data-picture>
      {known.map((ring) => (
        <div key={`${processKey(ring)} ${ring.core_type} ${ring.queue} ${ring.sub_device}`} class="ring" data-ring={ring.core_type}>
          <div class="ring-facts">
            <strong>{ring.core_type}</strong> queue {ring.queue} <Name of={ring.process} /> {ring.pid} <span class="quiet">{ring.source}</span>
            {', '}free <Bytes value={ring.free} />, the largest program that evicts none <Bytes value={ring.largest_free} />
            {ring.would_evict > 0 && `, the largest would evict ${ring.would_evict}`}
          </div>
          <RingStrip ring={ring} />
          <RingTable ring={ring} />
        </div>
      ))}
    </div>
  );
}
