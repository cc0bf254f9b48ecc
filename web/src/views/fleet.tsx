// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Many hosts, as `ttmem fleet` tells them: the daemon asks the engine that it was started with (--fleet URL).
import { FLEET_PATH as PATH, hasFleet, useFleet } from '../live/fleet.ts';
import type { FleetDocument, FleetHost, FleetJob } from '../live/growth.ts';
import { connection } from '../live/live.ts';
import { Bar } from '../parts/bar.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Badge, Bytes, Count, Empty, Fact, Name, Problem, Unanswered } from '../parts/text.tsx';
import { CopyCommand } from '../parts/copy.tsx';
import { countText, durationText, nounText, percentText } from '../format/units.ts';
import { visible } from '../format/words.ts';
import { Partial, spreadOf, tightest } from './fleet_job.tsx';
import { jobPath } from './jobs.tsx';

const COMMAND = 'ttmem fleet --from URL';
const KINDS: Record<string, string> = { fresh: 'good', stale: 'warn', silent: 'bad' };
const share = (part: number | null, whole: number | null): number | null => (part === null || !whole ? null : part / whole);

const HOSTS: Column<FleetHost>[] = [
  { name: 'host', title: 'Host', value: (host) => host.host, width: '11rem', cell: (host) => <Name of={host.host} /> },
  { name: 'state', title: 'State', value: (host) => host.state, width: '6rem', cell: (host) => <Badge kind={KINDS[host.state] ?? ''} {...(host.problem ? { title: visible(host.problem) } : {})}>{host.state}</Badge> },
  { name: 'dram', title: 'DRAM', value: (host) => host.dram, number: true, width: '7rem', cell: (host) => <Bytes value={host.dram} /> },
  { name: 'dram_share', title: 'Full', value: (host) => share(host.dram, host.dram_capacity), number: true, width: '5rem', cell: (host) => percentText(host.dram, host.dram_capacity) },
  { name: 'l1', title: 'L1', value: (host) => host.l1, number: true, width: '7rem', cell: (host) => <Bytes value={host.l1} /> },
  { name: 'headroom', title: 'Least headroom', value: (host) => host.headroom, number: true, width: '7rem', cell: (host) => <Bytes value={host.headroom} /> },
  { name: 'devices', title: 'Devices', value: (host) => host.devices, number: true, width: '6rem', cell: (host) => countText(host.devices) },
  { name: 'in_use', title: 'in use', value: (host) => host.devices_in_use, number: true, width: '5rem', cell: (host) => countText(host.devices_in_use) },
  { name: 'processes', title: 'Processes', value: (host) => host.processes, number: true, width: '7rem', cell: (host) => countText(host.processes) },
  { name: 'age', title: 'Told', value: (host) => host.age_ns, number: true, width: '9.5rem', cell: (host) => (host.age_ns === null ? '?' : `${durationText(host.age_ns)} ago`) },
  { name: 'problem', title: 'Why not', value: (host) => host.problem, width: '16rem', cell: (host) => <Name of={host.problem} none="" /> },
];

const JOBS: Column<FleetJob>[] = [
  { name: 'job', title: 'Job', value: (job) => job.name ?? job.key, width: '14rem', cell: (job) => <a href={jobPath(job.key)}><Name of={job.name ?? job.key} /></a> },
  { name: 'user', title: 'User', value: (job) => job.user, width: '7rem', cell: (job) => <Name of={job.user} /> },
  { name: 'hosts', title: 'Hosts', value: (job) => job.hosts, number: true, width: '6rem', cell: (job) => countText(job.hosts) },
  { name: 'ranks', title: 'Ranks', value: (job) => job.ranks_present, number: true, width: '8rem', cell: (job) => `${countText(job.ranks_present)} of ${countText(job.ranks_expected)}` },
  { name: 'dram', title: 'DRAM', value: (job) => job.dram, number: true, width: '8rem', cell: (job) => <Bytes value={job.dram} /> },
  { name: 'l1', title: 'L1', value: (job) => job.l1, number: true, width: '8rem', cell: (job) => <Bytes value={job.l1} /> },
  { name: 'spread', title: 'Apart in DRAM', value: (job) => spreadOf(job), number: true, width: '9rem', cell: (job) => <Bytes value={spreadOf(job)} /> },
  { name: 'headroom', title: 'Least headroom', value: (job) => job.headroom, number: true, width: '9rem', cell: (job) => <Bytes value={job.headroom} /> },
  { name: 'tightest', title: 'Whose', value: (job) => tightest(job), width: '12rem', cell: (job) => <Name of={tightest(job)} /> },
  { name: 'died', title: 'Died', value: (job) => job.ranks_died, number: true, width: '5.5rem', cell: (job) => countText(job.ranks_died) },
];

export function Fleet() {
  const { data, problem, note, loading } = useFleet().value;
  return (
    <>
      <h1>Fleet</h1>
      {data ? <><Problem text={problem} note={note} /><Found of={data} /></> : loading ? <p class="quiet">Asking Prometheus…</p> : hasFleet.value || connection.value.state !== 'live' ? <><Problem text={problem} note={note} /><Unanswered /></> : (
        <Empty title="There is no fleet to show.">
          <p>{problem}</p>
          <p>A daemon shows many hosts if it knows the Prometheus that scrapes them:</p>
          <p><CopyCommand text="ttmem serve --fleet http://127.0.0.1:9090" /></p>
        </Empty>
      )}
    </>
  );
}

function Found({ of }: { of: FleetDocument }) {
  const one = of.devices_untold === 1;
  return (
    <>
      <Partial of={of} />
      {of.devices_untold > 0 && <p class="notice">Of {nounText(of.devices_untold, 'device')} nobody tells what is taken, because a process has {one ? 'it' : 'them'} open that is not recorded: {one ? 'it is' : 'they are'} in no sum.</p>}
      {[...of.alerts, ...of.problems].length > 0 && (
        <section class="alarms" aria-label="Needs attention">
          <ul>
            {of.alerts.map((each) => <li key={each} class="bad">{visible(each)}</li>)}
            {of.problems.map((each) => <li key={each} class="warn">{visible(each)}</li>)}
          </ul>
        </section>
      )}
      <div class="panel">
        <dl class="facts" aria-label="All hosts together">
          <Fact label="Hosts that tell"><Count value={of.hosts_fresh} figure="fleet.hosts" /> of {of.hosts.length}</Fact>
          <Fact label="Devices"><Count value={of.devices} figure="fleet.devices" />, <Count value={of.devices_in_use} figure="fleet.in_use" /> in use</Fact>
          <Fact label="DRAM"><Bytes value={of.dram} figure="fleet.dram" /> of <Bytes value={of.dram_capacity} /></Fact>
          <Fact label="L1"><Bytes value={of.l1} figure="fleet.l1" /> of <Bytes value={of.l1_capacity} /></Fact>
          <Fact label="Least headroom"><Bytes value={of.headroom} figure="fleet.headroom" /></Fact>
          <Fact label="Told by"><Name of={of.source} /></Fact>
        </dl>
        <Bar label="DRAM of all hosts" parts={[{ kind: 'dram', label: 'taken', bytes: of.dram }]} capacity={of.dram_capacity} />
      </div>
      <h2>Hosts</h2>
      <Table label="hosts" noun="host" columns={HOSTS} rows={of.hosts} rowKey={(host) => host.host} sort="" empty="Prometheus knows no host." json={PATH} command={COMMAND} rowClass={(host) => (host.state === 'fresh' ? '' : 'ended')} />
      <h2>Jobs</h2>
      <Table label="jobs" noun="job" columns={JOBS} rows={of.jobs} rowKey={(job) => `${job.key} ${job.user}`} sort="" prefix="job-" empty="No job runs." json={PATH} command={COMMAND} />
    </>
  );
}
