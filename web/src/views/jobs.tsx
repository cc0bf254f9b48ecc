// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Jobs: what was started as one thing on many ranks, as `ttmem status --by job` tells it.
import { useDocument } from '../live/ask.ts';
import type { Job, JobRank, JobsDocument, Spread } from '../live/growth.ts';
import { path } from '../parts/alarms.tsx';
import { CopyCommand } from '../parts/copy.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Count, Empty, Fact, Name, Problem } from '../parts/text.tsx';
import { countText, dateText, percentText, rangesText } from '../format/units.ts';
import { JobOverHosts } from './fleet_job.tsx';

const EVERY_MS = 2000, PATH = '/api/v1/jobs', COMMAND = 'ttmem status --by job';

export const jobPath = (key: string): string => `/jobs/${encodeURIComponent(key)}`;
const rankText = (rank: number | null): string => (rank === null ? 'a rank without a number' : `rank ${rank}`);
const presentText = (job: Job): string => `${countText(job.ranks_present)} of ${countText(job.ranks_expected)}`;
const isShort = (job: Job): boolean => job.ranks_expected !== null && job.ranks_present < job.ranks_expected;

const Present = ({ of }: { of: Job }) => <span data-present={of.ranks_present}>{presentText(of)} {isShort(of) && <Badge kind="warn">missing</Badge>}</span>;

// Ranks that do the same should hold the same.
const SpreadText = ({ of }: { of: Spread }) =>
  of.least === null || of.most === null ? <>?</> : (
    <span data-bytes={of.most - of.least} title={`${rankText(of.least_rank)} holds least, ${rankText(of.most_rank)} most`}>
      <Bytes value={of.most - of.least} /> {of.most > 0 && <span class="quiet">({percentText(of.most - of.least, of.most)})</span>}
    </span>
  );

const COLUMNS: Column<Job>[] = [
  { name: 'job', title: 'Job', value: (job) => job.name ?? job.key, width: '16rem', cell: (job) => <a href={jobPath(job.key)}><Name of={job.name ?? job.key} /></a> },
  { name: 'user', title: 'User', value: (job) => job.user ?? String(job.uid), width: '7rem', cell: (job) => <Name of={job.user ?? String(job.uid)} /> },
  { name: 'ranks', title: 'Ranks here', value: (job) => job.ranks_present, number: true, width: '10rem', cell: (job) => <Present of={job} /> },
  { name: 'dram', title: 'DRAM', value: (job) => job.dram, number: true, width: '8rem', cell: (job) => <Bytes value={job.dram} /> },
  { name: 'l1', title: 'L1', value: (job) => job.l1, number: true, width: '8rem', cell: (job) => <Bytes value={job.l1} /> },
  { name: 'headroom', title: 'Least headroom', value: (job) => job.least_headroom?.headroom, number: true, width: '9rem', cell: (job) => <Bytes value={job.least_headroom?.headroom} /> },
  { name: 'spread', title: 'Apart in DRAM', value: (job) => (job.dram_spread.most === null ? null : job.dram_spread.most - job.dram_spread.least!), number: true, width: '11rem', cell: (job) => <SpreadText of={job.dram_spread} /> },
  { name: 'died', title: 'Died', value: (job) => job.ranks_died, number: true, width: '5.5rem' },
  { name: 'source', title: 'Named by', value: (job) => job.source, width: '8rem' },
];

export function Jobs() {
  const { data, problem, note } = useDocument<JobsDocument>(PATH, EVERY_MS).value;
  return (
    <>
      <h1>Jobs</h1>
      <Problem text={problem} note={note} />
      {data && data.jobs.length === 0 ? (
        <Empty title="No process here belongs to a job.">
          <p>Slurm, MPI, tt-run and Kubernetes name theirs by themselves; any other is named so:</p>
          <p><CopyCommand text="ttmem run --job NAME python model.py" /></p>
        </Empty>
      ) : (
        <Table label="jobs" noun="job" columns={COLUMNS} rows={data?.jobs ?? null} rowKey={(job) => `${job.key} ${job.uid}`} sort="" empty="No job." json={PATH} command={COMMAND} />
      )}
    </>
  );
}

const Rank = ({ of }: { of: JobRank }) => <a href={path(of)}>{of.rank === null ? <><Name of={of.process} /> {of.pid}</> : `Rank ${of.rank}`}</a>;

const RANKS: Column<JobRank>[] = [
  { name: 'rank', title: 'Rank', value: (rank) => rank.rank, width: '6rem', cell: (rank) => <Rank of={rank} /> },
  { name: 'state', title: 'State', value: (rank) => (rank.alive ? 'running' : rank.ended), width: '7rem',
    cell: (rank) => <Badge kind={rank.alive ? 'good' : rank.ended === 'died' ? 'bad' : ''}>{rank.alive ? 'running' : (rank.ended ?? 'ended')}</Badge> },
  { name: 'dram', title: 'DRAM', value: (rank) => rank.dram, number: true, width: '8rem', cell: (rank) => <Bytes value={rank.dram} /> },
  { name: 'l1', title: 'L1', value: (rank) => rank.l1, number: true, width: '8rem', cell: (rank) => <Bytes value={rank.l1} /> },
  { name: 'dram_peak', title: 'DRAM, peak', value: (rank) => rank.dram_peak, number: true, width: '8rem', cell: (rank) => <Bytes value={rank.dram_peak} /> },
  { name: 'headroom', title: 'Headroom', value: (rank) => rank.headroom, number: true, width: '8rem', cell: (rank) => <Bytes value={rank.headroom} /> },
  { name: 'device', title: 'Tightest device', value: (rank) => rank.headroom_device, number: true, width: '7rem', cell: (rank) => (rank.headroom_device === null ? '?' : <a href={`/d/${rank.headroom_device}`}>{rank.headroom_device}</a>) },
  { name: 'failures', title: 'Failures', value: (rank) => rank.failure_count, number: true, width: '6.5rem' },
  { name: 'host', title: 'Host', value: (rank) => rank.host, width: '9rem', cell: (rank) => <Name of={rank.host} /> },
  { name: 'mesh', title: 'Mesh', value: (rank) => rank.mesh, number: true, width: '5rem' },
  { name: 'process', title: 'Process', value: (rank) => rank.process, width: '9rem', cell: (rank) => <Name of={rank.process} /> },
  { name: 'pid', title: 'PID', value: (rank) => rank.pid, number: true, width: '6rem' },
];

export function JobView({ name }: { name: string }) {
  const { data, problem, note } = useDocument<JobsDocument>(PATH, EVERY_MS).value;
  const found = (data?.jobs ?? []).filter((each) => each.key === name);
  return (
    <>
      <h1><Name of={found[0]?.name ?? name} /> <span class="quiet">job</span></h1>
      <Problem text={problem} note={note} />
      <JobOverHosts name={name} />
      {data && found.length === 0 && (
        <Empty title="No process of this job is recorded here.">
          <p>Its ranks on other hosts are told by the daemons there, or by <a href="/fleet">the fleet</a>.</p>
          <p><a href="/jobs">All jobs of this host</a></p>
        </Empty>
      )}
      {found.map((job) => <OneJob key={job.uid} job={job} />)}
    </>
  );
}

function OneJob({ job }: { job: Job }) {
  const { least_headroom: least, first_death: first } = job;
  return (
    <>
      {first && (
        <p class="notice" data-first-death={first.rank ?? ''}>
          <Rank of={first} /> died first{first.ended_ns === null ? '' : `, ${dateText(first.ended_ns)}`}. It held <Bytes value={first.dram} figure="first_death.dram" /> of DRAM and <Bytes value={first.l1} figure="first_death.l1" /> of L1.
        </p>
      )}
      <dl class="facts panel" aria-label="The job as one">
        <Fact label="Ranks here, of all"><Present of={job} /></Fact>
        <Fact label="DRAM of all ranks"><Bytes value={job.dram} figure="job.dram" /></Fact>
        <Fact label="L1 of all ranks"><Bytes value={job.l1} figure="job.l1" /></Fact>
        <Fact label="Least headroom">{least ? <><Bytes value={least.headroom} figure="job.headroom" /> <Rank of={least} /></> : '?'}</Fact>
        <Fact label="Apart in DRAM"><SpreadText of={job.dram_spread} /></Fact>
        <Fact label="Apart in L1"><SpreadText of={job.l1_spread} /></Fact>
        <Fact label="DRAM, peaks of all ranks"><Bytes value={job.dram_peak} figure="job.dram_peak" /></Fact>
        <Fact label="Died"><Count value={job.ranks_died} figure="job.died" /></Fact>
        {job.ranks_missing.length > 0 && <Fact label="Not here">{rangesText(job.ranks_missing)}</Fact>}
        <Fact label="Key"><Name of={job.key} /></Fact>
        <Fact label="User"><Name of={job.user ?? String(job.uid)} /></Fact>
      </dl>
      <Table label="ranks" noun="rank" columns={RANKS} rows={job.ranks} rowKey={(rank) => `${path(rank)} ${rank.segment}`} sort="" rowClass={(rank) => (rank.alive ? '' : 'ended')}
        empty="No rank." json={PATH} command={COMMAND} />
    </>
  );
}
