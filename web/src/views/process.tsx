// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// One process: what it holds and by which line, how reliable that is, what failed.
import { allProcesses, now, received } from '../live/live.ts';
import { useDocument } from '../live/ask.ts';
import type { Process } from '../live/documents.ts';
import { chosen, failurePath } from '../parts/alarms.tsx';
import { Icicle } from '../parts/icicle.tsx';
import { byOperationAndLine } from '../format/groups.ts';
import { setParameters } from '../route.ts';
import { Bytes, Count, Empty, Fact, Name, Problem, Taken } from '../parts/text.tsx';
import { CopyCommand } from '../parts/copy.tsx';
import { ageText, countText, dateText } from '../format/units.ts';
import { KIND_WORDS, visible } from '../format/words.ts';
import { HoldingsTable, loadHoldings, type Loaded } from './holdings.tsx';
import { jobPath } from './jobs.tsx';
import { Quality, State } from './processes.tsx';

const EVERY_MS = 2000;

export function ProcessView({ name }: { name: string }) {
  const [pid, start] = name.split('-').map(Number);
  const process = allProcesses.value.find((each) => each.pid === pid && (!start || each.start === start));
  if (!process) return received.value ? <Unknown name={name} /> : null;
  return (
    <>
      <h1>
        <Name of={process.name} /> <span class="quiet">{process.pid}</span> <State of={process} /> <Quality of={process} />
      </h1>
      <p class="mono command-line"><Name of={process.command} none={process.hidden ? '(told to its user alone)' : '-'} /></p>
      {!process.alive && (
        <p class="notice">
          {process.ended === 'died' ? 'It died.' : 'It has ended.'} This is what it held at its end; it is in no sum.
        </p>
      )}
      <Facts process={process} />
      <Failures process={process} />
      <Shares process={process} />
      <h2>Holdings</h2>
      <HoldingsTable scope={`pid=${chosen(process)}`} command={`ttmem dump --pid ${chosen(process)}`} />
    </>
  );
}

const Unknown = ({ name }: { name: string }) => (
  <>
    <h1>Process {name}</h1>
    <Empty title="No such process is recorded.">
      <p>It may have ended, and its black box was removed.</p>
      <p><a href="/p">All processes</a></p>
    </Empty>
  </>
);

function Facts({ process }: { process: Process }) {
  const { held } = process;
  return (
    <div class="panels">
      <section class="panel" aria-label="Held">
        <h2>Holds, on all its devices</h2>
        <dl class="facts">
          <Fact label="DRAM, taken"><Taken value={held.dram} requested={held.dram_requested} figure="held.dram" /></Fact>
          <Fact label="DRAM, requested"><Bytes value={held.dram_requested} figure="held.dram_requested" /></Fact>
          <Fact label="L1, taken"><Taken value={held.l1} requested={held.l1_requested} figure="held.l1" /></Fact>
          <Fact label="L1, requested"><Bytes value={held.l1_requested} figure="held.l1_requested" /></Fact>
          <Fact label="Program L1, resident"><Bytes value={held.program_l1} figure="held.program_l1" /></Fact>
          <Fact label="Kernels, footprint"><Bytes value={held.kernels} figure="held.kernels" /></Fact>
          <Fact label="Launches"><Count value={held.dispatches} figure="held.dispatches" /></Fact>
        </dl>
      </section>
      <section class="panel" aria-label="Who">
        <h2>Who</h2>
        <dl class="facts">
          <Fact label="User"><Name of={process.user ?? String(process.uid)} /></Fact>
          <Fact label="Devices">
            {process.devices.filter((each) => each.open).map((each) => <a key={each.id} class="spaced" href={`/d/${each.id}`}>{each.id}</a>)}
          </Fact>
          <Fact label="Started">{dateText(process.started_ns)} <span class="quiet">({ageText(process.started_ns, now.value)} ago)</span></Fact>
          {process.ended_ns !== null && <Fact label="Ended">{dateText(process.ended_ns)}</Fact>}
          <Fact label="Runtime"><Name of={process.runtime_version} none="not known" /></Fact>
          {process.job && <Fact label="Job"><a href={jobPath(process.job.key)}><Name of={process.job.name ?? process.job.key} /></a>{process.job.rank !== null && `, rank ${process.job.rank}`}</Fact>}
          {process.host_pid !== null && process.host_pid !== process.pid && <Fact label="PID on the host">{process.host_pid}</Fact>}
          {process.pod?.name && <Fact label="Pod"><Name of={[process.pod.namespace, process.pod.name].filter((each) => each).join('/')} /></Fact>}
          {process.container && <Fact label="Container"><Name of={process.container} /></Fact>}
          <Fact label="Known from">{process.sources.join(', ')}</Fact>
        </dl>
      </section>
      <Tracking process={process} />
    </div>
  );
}

// Why a device does not believe it.
const CONTRADICTIONS: Record<string, string> = {
  dram: 'what it says of the size of its DRAM contradicts the others', l1: 'what it says of the size of its L1 contradicts the others', held: 'it claims to hold more than there is',
};

export function trackingNotes(process: Process): string[] {
  const { tracking } = process;
  const notes = [
    tracking.exact === false && `differs from the runtime's own statistics by ${tracking.difference_bytes ?? '?'} B`,
    process.hidden && `of another user: its command, lines, stacks and the words of its failures are told to ${visible(process.user ?? String(process.uid))} alone, or by ttmem serve --all-users`,
    tracking.unreached && 'nothing of it is recorded: its libraries are loaded with RTLD_DEEPBIND, which hides them from the hooks (see sys.setdlopenflags)',
    ...process.devices.filter((each) => each.contradiction).map((each) => `device ${each.id}: ${CONTRADICTIONS[each.contradiction!] ?? each.contradiction}; not in the figures of the device`),
    tracking.partial && (tracking.since === 'attach' ? 'ttmem joined later: programs compiled before are not known until they are compiled again' : 'an earlier part is not known'),
    tracking.lines === 'refused' && `no lines of Python are told: ${visible(tracking.lines_reason ?? 'it is not known why')}`,
    tracking.stacks_cut && 'too many different stacks: of new ones the line alone is told',
    tracking.unrecorded > 0 && `${tracking.unrecorded} calls left no trace in the table`,
    tracking.growth_stopped && 'no room for the table to grow',
    tracking.lost_events > 0 && `${tracking.lost_events} events were overwritten before they were read; totals are exact all the same`,
    tracking.unsettled > 0 && `${tracking.unsettled} table slots changed at every read`,
    tracking.dangling > 0 && `${tracking.dangling} records refer to something that is not there`,
    tracking.not_tmpfs && 'its segment lies on a file system where stores may be slow',
    tracking.disconnected && 'a legacy client whose socket closed',
    tracking.hooks_missing.length > 0 && `hooks that are not bound: ${visible(tracking.hooks_missing.join(', '))}`,
    ...Object.entries(tracking.anomalies).map(([kind, count]) => `could not be matched: ${kind.replaceAll('_', ' ')}, ${count}; totals are not affected`),
  ];
  return notes.filter((note): note is string => typeof note === 'string');
}

function Tracking({ process }: { process: Process }) {
  const notes = trackingNotes(process);
  return (
    <section class="panel" aria-label="How reliable">
      <h2>How reliable</h2>
      {notes.length === 0 ? (
        <p>{process.tracking.exact ? 'Exact: the runtime\'s own statistics agree, to the byte.' : 'Recorded from the first moment; not compared with the runtime\'s own statistics.'}</p>
      ) : (
        <ul>{notes.map((note) => <li key={note}>{note}</li>)}</ul>
      )}
      <CopyCommand text="ttmem doctor" />
    </section>
  );
}

function Failures({ process }: { process: Process }) {
  if (process.failures.length === 0) return null;
  return (
    <section class="panel" aria-label="Failures">
      <h2>Failures</h2>
      <ul>
        {process.failures.map((failure) => (
          <li key={failure.number}>
            <a href={failurePath(process, failure.number)}>{KIND_WORDS[failure.kind] ?? failure.kind}</a>{' '}
            <span class="quiet">{dateText(failure.time_ns)}</span>
          </li>
        ))}
      </ul>
      {process.failure_count > process.failures.length && <p class="quiet">Not kept: {countText(process.failure_count - process.failures.length)} in between.</p>}
    </section>
  );
}

// The filter of the list below that leaves what a bar is made of.
function filterOf([operation, line]: string[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '')}"`;
  const known = (text: string | undefined): text is string => text !== undefined && !text.startsWith('(');
  return [known(operation) && `op=${quoted(operation)}`, known(line) && `line=${quoted(line)}`].filter((each) => each).join(' ');
}

function Shares({ process }: { process: Process }) {
  const { data, note } = useDocument<Loaded>(`/api/v1/holdings?pid=${chosen(process)}&kind=buffer`, EVERY_MS, loadHoldings).value;
  const of = (space: string) => (data?.holdings ?? []).filter((each) => each.space === space);
  if (!data) return null;
  const pick = (trail: string[]) => setParameters({ filter: filterOf(trail) });
  return (
    <section aria-label="By operation and line">
      <Problem text={null} note={note} />
      <h2>DRAM by operation and line {process.alive && <a class="small" href={`/origins?pid=${encodeURIComponent(chosen(process))}`}>whole stacks</a>}</h2>
      <Icicle groups={byOperationAndLine(of('dram'))} label="DRAM by operation and line" onPick={pick} />
      <h2>L1 buffers by operation and line</h2>
      <Icicle groups={byOperationAndLine(of('l1'))} label="L1 buffers by operation and line" onPick={pick} />
    </section>
  );
}
