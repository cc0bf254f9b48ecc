// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Figures and names in a line of text. The exact bytes are in the tooltip, and in `data-bytes`.
import type { ComponentChildren } from 'preact';
import type { Figure } from '../live/documents.ts';
import { bytesText, countText, exactText } from '../format/units.ts';
import { shortLine, visible } from '../format/words.ts';

export function Bytes({ value, figure }: { value: Figure | undefined; figure?: string }) {
  const known = value !== null && value !== undefined;
  return (
    <span class={known ? 'bytes' : 'bytes unknown'} title={exactText(value)} data-bytes={value ?? 'null'} data-figure={figure}>
      {bytesText(value)}
    </span>
  );
}

// What is taken; of a process that only its runtime tells of, at least what was requested.
export const Taken = ({ value, requested, figure }: { value: Figure; requested: Figure; figure?: string }) =>
  value !== null || requested === null ? (
    <Bytes value={value} {...(figure ? { figure } : {})} />
  ) : (
    <span class="bytes" data-requested={requested} title={`${exactText(requested)} requested; how much more that takes is not known`}>≥ {bytesText(requested)}</span>
  );

// What the board has by its data sheet is named so: nobody has measured it.
export const Capacity = ({ told, nominal, figure }: { told: Figure; nominal: number | undefined; figure?: string }) =>
  told !== null || nominal === undefined ? (
    <Bytes value={told} {...(figure ? { figure } : {})} />
  ) : (
    <span class="bytes" data-nominal={nominal} title={`${exactText(nominal)} by the data sheet of the board`}>{bytesText(nominal)} (nominal)</span>
  );

export const Count = ({ value, figure }: { value: Figure | undefined; figure?: string }) => (
  <span class={value === null || value === undefined ? 'unknown' : undefined} data-count={value ?? 'null'} data-figure={figure}>
    {countText(value)}
  </span>
);

// The line of a source, shortened.
export const Line = ({ of }: { of: string | null | undefined }) =>
  of ? <bdi title={visible(of)}>{visible(shortLine(of))}</bdi> : <span class="quiet">-</span>;

// A name that some program chose.
export const Name = ({ of, none = '-' }: { of: string | null | undefined; none?: string }) =>
  of ? <bdi title={visible(of)}>{visible(of)}</bdi> : <span class="quiet">{none}</span>;

export const Badge = ({ kind = '', children, title }: { kind?: string; children: ComponentChildren; title?: string }) => (
  <span class={`badge ${kind}`} title={title}>
    {children}
  </span>
);

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

// Of an answer of the daemon: why there is none, and what it is of if that is not what all the rest shows.
export const Problem = ({ text, note = null }: { text: string | null; note?: string | null }) => (
  <>
    {text && <p class="problem" role="status">{text}</p>}
    {note && <p class="notice" role="status" data-note>{note}</p>}
  </>
);

// Whoever has no answer knows nothing, not that there is none. Why not is told by the view's problem.
export const Unanswered = () => <p class="quiet">No answer of the daemon yet.</p>;

export function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
