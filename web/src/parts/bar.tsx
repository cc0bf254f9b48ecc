// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A bar of what is taken of a capacity, with a tick at the peak of its first part. Colour is never the only sign: the
// label says the same in words, and a legend stands below.
import type { Figure } from '../live/documents.ts';
import { bytesText, percentText } from '../format/units.ts';

export interface Part {
  kind: string; // a colour of the style sheet
  label: string;
  bytes: Figure;
}

const share = (bytes: number, capacity: number): string => `${Math.min(100, Math.max(0, (100 * bytes) / capacity)).toFixed(2)}%`;

export function Bar({ label, parts, capacity, peak = null }: { label: string; parts: Part[]; capacity: Figure; peak?: Figure }) {
  const known = parts.filter((part) => part.bytes !== null);
  const sum = known.reduce((total, part) => total + part.bytes!, 0);
  if (!capacity) {
    return <div class="bar unknown-bar" role="img" aria-label={`${label}: capacity not known`} title="capacity not known" />;
  }
  const words = known.map((part) => `${part.label} ${bytesText(part.bytes)}`).join(', ');
  const text = `${label}: ${percentText(sum, capacity)} of ${bytesText(capacity)}; ${words}${peak === null ? '' : `; peak of ${known[0]?.label ?? 'it'} ${bytesText(peak)}`}`;
  return (
    <div class="bar" role="img" aria-label={text} title={text}>
      {known.map((part) => (
        <div key={part.kind} class={`fill ${part.kind}`} style={{ width: share(part.bytes!, capacity) }} />
      ))}
      {peak !== null && peak > (known[0]?.bytes ?? 0) && <div class="peak" style={{ left: share(peak, capacity) }} />}
    </div>
  );
}

export const Legend = ({ parts }: { parts: { kind: string; label: string }[] }) => (
  <ul class="legend">
    {parts.map((part) => (
      <li key={part.kind}>
        <span class={`swatch fill ${part.kind}`} aria-hidden="true" />
        {part.label}
      </li>
    ))}
  </ul>
);
