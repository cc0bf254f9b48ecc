// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Where the figures come from, how far they can be trusted, and what the daemon itself costs.
import { useRef } from 'preact/hooks';
import { ask, useDocument } from '../live/ask.ts';
import { allProcesses, directories, leftBehind, received, unreadable } from '../live/live.ts';
import { processKey } from '../live/merge.ts';
import { recording } from '../live/recording.ts';
import { Fact, Name, Problem } from '../parts/text.tsx';
import { SOURCE_WORDS, spaced, visible } from '../format/words.ts';
import { bytesText, countText, durationText, nounText } from '../format/units.ts';
import { trackingNotes } from './process.tsx';
import { processPath, Quality } from './processes.tsx';

const EVERY_MS = 2000;

const LEFT_OUT = new Set(['schema', 'document', 'time_ns', 'boot_id']);

type Plain = { [name: string]: unknown };

const LABELS: Record<string, string> = {
  unreadable: 'Segments that could not be read', file_bytes: 'File', lost_rows: 'Gaps: rows lost', clock_jumps: 'Gaps: jumps of the clock',
  cpu_seconds: 'CPU time since it began', resident_bytes: 'Memory', refresh_seconds: 'Spent reading segments', refreshes: 'Readings',
  changes: 'Readings with something new', connections: 'Connections now', requests: 'Questions answered', dropped: 'Readers of streams too slow',
  loop_pause_seconds: 'Longest pause', loop_cpu_seconds: 'Longest turn of the sockets, CPU', work_cpu_seconds: 'Longest turn of the work, CPU',
};

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'not known';
  if (typeof value === 'number') {
    if (name.endsWith('seconds')) return value < 1 ? `${(1000 * value).toFixed(1)} ms` : value < 60 ? `${value.toFixed(1)} s` : durationText(1e9 * value);
    return name.endsWith('bytes') ? bytesText(value) : countText(value);
  }
  return visible(String(value));
}

const Facts = ({ of }: { of: Plain }) => (
  <dl class="facts">
    {Object.entries(of)
      .filter(([name, value]) => typeof value !== 'object' && !LEFT_OUT.has(name))
      .map(([name, value]) => (
        <Fact key={name} label={LABELS[name] ?? spaced(name)}>{valueText(name, value)}</Fact>
      ))}
  </dl>
);

const List = ({ title, of, none }: { title: string; of: string[]; none: string }) => (
  <section class="panel" aria-label={title}>
    <h2>{title}</h2>
    {of.length === 0 ? <p class="quiet">{none}</p> : <ul class="long-list" tabIndex={0}>{of.map((each) => <li key={each}>{visible(each)}</li>)}</ul>}
  </section>
);

// Between the last two answers: what it costs now.
function useShare(data: Plain | null): string {
  const last = useRef<{ time: number; cpu: number; share: string } | null>(null);
  const time = Number(data?.['time_ns'] ?? 0), cpu = Number((data?.['self'] as Plain | undefined)?.['cpu_seconds'] ?? 0);
  const before = last.current;
  if (data && time !== before?.time) {
    last.current = { time, cpu, share: before ? `${((1e11 * (cpu - before.cpu)) / (time - before.time)).toFixed(1)} % of a core` : '…' };
  }
  return last.current?.share ?? '…';
}

// How the figures of the living come here, and of how many processes.
function Sources() {
  const counts = new Map<string, number>();
  for (const process of allProcesses.value.filter((each) => each.alive)) {
    for (const source of process.sources) counts.set(source, (counts.get(source) ?? 0) + 1);
  }
  return (
    <section class="panel" aria-label="Sources">
      <h2>Sources</h2>
      {received.value && counts.size === 0 && <p class="quiet">No process is recorded.</p>}
      <dl class="facts">
        {[...counts].sort().map(([source, count]) => (
          <Fact key={source} label={source}>{nounText(count, 'process')} <span class="quiet">{SOURCE_WORDS[source]}</span></Fact>
        ))}
      </dl>
    </section>
  );
}

export function Health() {
  // What the daemon costs changes although nothing else does.
  const { data, problem, note } = useDocument<Plain>('/healthz', EVERY_MS, ask, true).value;
  const share = useShare(data);
  const odd = allProcesses.value.filter((process) => trackingNotes(process).length > 0);
  return (
    <>
      <h1>Health</h1>
      <Problem text={problem} note={note} />
      <div class="panels">
        {data && (
          <section class="panel" aria-label="Daemon">
            <h2>Daemon</h2>
            <Facts of={data} />
          </section>
        )}
        {data && Object.entries(data).map(([name, value]) =>
          // Whoever shows a recording reads nothing and counts none of this.
          typeof value === 'object' && value !== null && !Array.isArray(value) && !(name === 'self' && recording.value) ? (
            <section class="panel" key={name} aria-label={spaced(name)}>
              <h2>{name === 'self' ? 'What the daemon costs' : spaced(name).replace(/^./, (first) => first.toUpperCase())}</h2>
              {name === 'self' && <dl class="facts"><Fact label="Now, with this page open">{share}</Fact></dl>}
              <Facts of={value as Plain} />
            </section>
          ) : null,
        )}
        <Sources />
        <section class="panel" aria-label="Processes whose figures need a note">
          <h2>Figures that need a note</h2>
          {odd.length === 0 ? (
            <p class="quiet">None: every process is recorded from its first moment, and nothing was odd.</p>
          ) : (
            <ul>
              {odd.map((process) => (
                <li key={processKey(process)}>
                  <a href={processPath(process)}><Name of={process.name} /> {process.pid}</a> <Quality of={process} />
                  <ul>{trackingNotes(process).map((note) => <li key={note}>{note}</li>)}</ul>
                </li>
              ))}
            </ul>
          )}
        </section>
        <List title="Segments that could not be read" of={unreadable.value} none="None." />
        <List title="Left behind by dead processes" of={leftBehind.value} none="Nothing in the runtime's own shared memory." />
        <List title="Where segments are looked for" of={directories.value} none="Nowhere." />
      </div>
    </>
  );
}
