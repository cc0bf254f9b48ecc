// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The time of a recording: a slider over what was held, and the moments where something happened.
import { useRef } from 'preact/hooks';
import { now, received } from '../live/live.ts';
import { closeOpened } from '../live/opening.ts';
import { offsetOf, openedKey, recording, type Mark, type Recording } from '../live/recording.ts';
import { bytesText, clockText, dateText, missingText } from '../format/units.ts';
import { SPACE_WORDS, visible } from '../format/words.ts';
import { setParameters } from '../route.ts';

const STEPS = 1000, WIDTH = 1000, HEIGHT = 30, PAUSE_MS = 120;

const markText = (mark: Mark): string =>
  mark.kind === 'failure'
    ? `Failure ${mark.number ?? ''} of ${mark.pid ?? '?'}`
    : `Peak of ${mark.space ? (SPACE_WORDS[mark.space] ?? mark.space) : 'all'}: ${bytesText(mark.bytes)}`;

export const showMark = (mark: Mark, of: Recording): void => setParameters({ at: offsetOf(mark.time_ns, of) });

// The next mark after what is shown, or the one before it.
export function stepToMark(direction: 1 | -1): void {
  const of = recording.peek();
  const marks = [...(of?.marks ?? [])].sort((a, b) => direction * (a.time_ns - b.time_ns));
  const next = marks.find((mark) => direction * (mark.time_ns - now.peek()) > 2000);
  if (of && next) showMark(next, of);
}

// What was held on all devices, the DRAM where there is any.
function curvePath(of: Recording): string {
  const values = of.curve?.most['dram'] ?? Object.values(of.curve?.most ?? {})[0] ?? [];
  const most = Math.max(1, ...values);
  const points = values.map((value, i) => `${((WIDTH * i) / Math.max(1, values.length)).toFixed(1)} ${(HEIGHT - (HEIGHT * value) / most).toFixed(1)}`);
  return points.length > 0 ? `M0 ${HEIGHT}L${points.join('L')}L${WIDTH} ${HEIGHT}z` : '';
}

export function TimeBar() {
  const of = recording.value;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  if (!of) return null;
  const span = Math.max(1, of.last_ns - of.first_ns);
  const time = received.value ? Math.min(of.last_ns, Math.max(of.first_ns, now.value)) : of.last_ns;
  const place = (at: number): number => (at - of.first_ns) / span;
  const seconds = ((time - of.first_ns) / 1e9).toFixed(2);
  const goTo = (step: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setParameters({ at: step >= STEPS ? null : step <= 0 ? 'start' : offsetOf(of.first_ns + (span * step) / STEPS, of) }), PAUSE_MS);
  };
  return (
    <section class="time-bar" aria-label="Time of the recording">
      <div class="table-head">
        <strong>{visible(of.file ?? '')}</strong>
        <span data-moment={time}>{dateText(time)}, {seconds} s after its beginning</span>
        {openedKey && <button type="button" class="small" onClick={() => void closeOpened(openedKey!)}>Close the recording</button>}
        {!of.ended && <span class="quiet">its recorder was killed, or still records</span>}
        {of.missed > 0 && <span class="quiet">{missingText(of.missed)}</span>}
        {of.problems.map((each) => <span key={each} class="bad">{visible(each)}</span>)}
      </div>
      <div class="time-slide">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="held" d={curvePath(of)} />
          {(of.marks ?? []).map((mark, i) => <rect key={i} class={mark.kind} x={WIDTH * place(mark.time_ns)} y={0} width={2} height={HEIGHT} />)}
        </svg>
        <input type="range" min={0} max={STEPS} value={Math.round(STEPS * place(time))} aria-label="Moment" aria-valuetext={`${clockText(time)}, ${seconds} seconds after its beginning`}
          onInput={(event) => goTo(Number(event.currentTarget.value))} />
      </div>
      <div class="tabs" role="group" aria-label="Moments of the recording">
        <button type="button" class="small" onClick={() => setParameters({ at: 'start' })}>Start</button>
        {(of.marks ?? []).map((mark, i) => (
          <button key={i} type="button" class="small" data-mark={mark.kind} title={dateText(mark.time_ns)} onClick={() => showMark(mark, of)}>{markText(mark)}</button>
        ))}
        {of.marks === null && <span class="quiet">looking for peaks and failures…</span>}
        <button type="button" class="small" onClick={() => setParameters({ at: null })}>End</button>
      </div>
    </section>
  );
}
