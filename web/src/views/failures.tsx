// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What failed: why, in the runtime's own words, with what was held at that moment and what helps.
import { useDocument } from '../live/ask.ts';
import type { ProcessFailure } from '../live/documents.ts';
import { Table } from '../parts/table.tsx';
import { Bytes, Empty, Fact, Name, Problem, Unanswered } from '../parts/text.tsx';
import { processKey } from '../live/merge.ts';
import { failurePath } from '../parts/alarms.tsx';
import { Icicle } from '../parts/icicle.tsx';
import { byOperationAndLine } from '../format/groups.ts';
import { setParameters } from '../route.ts';
import { dateText } from '../format/units.ts';
import { KIND_WORDS, SPACE_WORDS, visible, visibleLines } from '../format/words.ts';
import { Explanation } from './explain.tsx';
import { HOLDING_COLUMNS } from './holdings.tsx';

const EVERY_MS = 2000;
interface Failures {
  failures: ProcessFailure[];
}

// Without the stack of the runtime, which is in the failure's own view.
const firstLines = (message: string): string =>
  visibleLines(message.split('\nbacktrace:')[0] ?? '');

const Message = ({ of }: { of: string | null }) =>
  of === null ? <p class="quiet">Its words are not told here: the process is another user's, or had none.</p> : <p class="mono message">{firstLines(of)}</p>;

const kindOf = (failure: ProcessFailure): string => KIND_WORDS[failure.kind] ?? failure.kind;

export function FailuresView() {
  const { data, problem, note } = useDocument<Failures>('/api/v1/failures', EVERY_MS).value;
  const failures = [...(data?.failures ?? [])].sort((a, b) => (b.time_ns ?? 0) - (a.time_ns ?? 0));
  return (
    <>
      <h1>Failures</h1>
      <Problem text={problem} note={note} />
      {!data && <Unanswered />}
      {data && failures.length === 0 && (
        <Empty title="Nothing has failed.">
          <p>Failed allocations and clashes of every recorded process appear here, with what was held at that moment.</p>
        </Empty>
      )}
      <ul class="failures">
        {failures.map((failure) => (
          <li key={`${processKey(failure)} ${failure.number}`} class="panel">
            <h2>
              <a href={failurePath(failure, failure.number)}>{kindOf(failure)}</a>{' '}
              <span class="quiet">
                <Name of={failure.process} /> {failure.pid}, {dateText(failure.time_ns)}
              </span>
            </h2>
            <Message of={failure.message} />
          </li>
        ))}
      </ul>
    </>
  );
}

// `whose` is PID-START.
export function FailureView({ whose, number }: { whose: string; number: number }) {
  const process = whose.replace('-', '/');
  const path = `/api/v1/failures?pid=${encodeURIComponent(process)}&number=${number}`;
  const { data, problem, loading } = useDocument<Failures>(path, 60_000).value;
  const failure = data?.failures.find((each) => each.number === number);
  if (!failure) {
    return (
      <>
        <h1>Failure {number} of process {visible(whose)}</h1>
        {loading ? <p class="quiet">Asking for it…</p> : <Empty title={problem ?? 'It is not kept: a process keeps its first four and its last four.'} />}
      </>
    );
  }
  const picture = failure.picture ?? [];
  const held = picture.filter((each) => each.kind === 'buffer' && each.space === failure.space);
  return (
    <>
      <h1>{kindOf(failure)}</h1>
      <Explanation whose={process} number={number} />
      <h2>In the runtime's words</h2>
      <Message of={failure.message} />
      <dl class="facts panel">
        <Fact label="Process"><Name of={failure.process} /> {failure.pid}{!failure.alive && ' (ended)'}</Fact>
        <Fact label="When">{dateText(failure.time_ns)}</Fact>
        <Fact label="Asked for"><Bytes value={failure.requested} figure="failure.requested" /></Fact>
        <Fact label="In each bank or core"><Bytes value={failure.per_bank} figure="failure.per_bank" /></Fact>
        <Fact label="Where">{failure.space ? (SPACE_WORDS[failure.space] ?? failure.space) : '-'}</Fact>
        <Fact label="Operation"><Name of={failure.operation} /></Fact>
        <Fact label="Line"><Name of={failure.line} /></Fact>
        <Fact label="Cores">{failure.cores ?? 'all, or not known'}</Fact>
      </dl>
      {held.length > 0 && (
        <>
          <h2>What held {SPACE_WORDS[failure.space ?? ''] ?? 'it'} at that moment</h2>
          <Icicle groups={byOperationAndLine(held)} label="Held, by operation and line" onPick={([operation]) => setParameters({ filter: `op="${operation?.replaceAll('"', '')}"` })} />
        </>
      )}
      <h2>Everything that was held</h2>
      {failure.truncated && <p class="problem">More was held than the picture shows.</p>}
      <Table label="what was held" noun="holding" columns={HOLDING_COLUMNS} rows={picture} rowKey={(each) => `${each.kind} ${each.id} ${each.index ?? ''} ${each.space ?? ''}`}
        sort="-size" empty="No picture was kept." json={path} command={`ttmem dump --pid ${process} --failure ${number}`} />
    </>
  );
}
