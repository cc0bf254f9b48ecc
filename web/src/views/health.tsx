// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// How far the figures can be trusted, and what the daemon itself costs.
import { useDocument } from '../live/ask.ts';
import { allProcesses, directories, leftBehind, unreadable } from '../live/live.ts';
import { processKey } from '../live/merge.ts';
import { Fact, Name, Problem } from '../parts/text.tsx';
import { spaced, visible } from '../format/words.ts';
import { bytesText, countText } from '../format/units.ts';
import { trackingNotes } from './process.tsx';
import { processPath, Quality } from './processes.tsx';

const EVERY_MS = 2000;

const LEFT_OUT = new Set(['schema', 'document', 'time_ns', 'boot_id']);

type Plain = { [name: string]: unknown };

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'not known';
  if (typeof value === 'number') return name.endsWith('bytes') ? bytesText(value) : Number.isInteger(value) ? countText(value) : value.toFixed(3);
  return visible(String(value));
}

const Facts = ({ of }: { of: Plain }) => (
  <dl class="facts">
    {Object.entries(of)
      .filter(([name, value]) => typeof value !== 'object' && !LEFT_OUT.has(name))
      .map(([name, value]) => (
        <Fact key={name} label={spaced(name)}>{valueText(name, value)}</Fact>
      ))}
  </dl>
);

const List = ({ title, of, none }: { title: string; of: string[]; none: string }) => (
  <section class="panel" aria-label={title}>
    <h2>{title}</h2>
    {of.length === 0 ? <p class="quiet">{none}</p> : <ul class="long-list" tabIndex={0}>{of.map((each) => <li key={each}>{visible(each)}</li>)}</ul>}
  </section>
);

export function Health() {
  const { data, problem } = useDocument<Plain>('/healthz', EVERY_MS).value;
  const odd = allProcesses.value.filter((process) => trackingNotes(process).length > 0);
  return (
    <>
      <h1>Health</h1>
      <Problem text={problem} />
      <div class="panels">
        {data && (
          <section class="panel" aria-label="Daemon">
            <h2>Daemon</h2>
            <Facts of={data} />
          </section>
        )}
        {data && Object.entries(data).map(([name, value]) =>
          typeof value === 'object' && value !== null && !Array.isArray(value) ? (
            <section class="panel" key={name} aria-label={spaced(name)}>
              <h2>{name === 'self' ? 'What the daemon costs' : spaced(name).replace(/^./, (first) => first.toUpperCase())}</h2>
              <Facts of={value as Plain} />
            </section>
          ) : null,
        )}
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
