// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A job over all hosts, as the engine of the fleet tells it.
import { useFleet, hasFleet } from '../live/fleet.ts';
import type { FleetDeath, FleetDocument, FleetJob } from '../live/growth.ts';
import { Badge, Bytes, Count, Fact, Name } from '../parts/text.tsx';
import { countText, dateText, nounText } from '../format/units.ts';

export const spreadOf = (job: FleetJob): number | null => (job.dram_most_rank === null || job.dram_least_rank === null ? null : job.dram_most_rank - job.dram_least_rank);
const ranked = (rank: string | null, host: string | null): string => `${rank === null ? 'a rank without a number' : `rank ${rank}`}${host ? ` on ${host}` : ''}`;
export const tightest = (job: FleetJob): string | null => (job.headroom === null ? null : ranked(job.headroom_rank, job.headroom_host));

const Death = ({ of }: { of: FleetDeath }) => (
  <p class="notice">
    First to die: <Name of={ranked(of.rank, of.host)} />{of.time_ns === null ? '' : `, ${dateText(of.time_ns)}`}. It held <Bytes value={of.dram} figure="fleet_death.dram" /> of DRAM and <Bytes value={of.l1} figure="fleet_death.l1" /> of L1.
  </p>
);

export function Partial({ of }: { of: FleetDocument }) {
  const missing = of.hosts.length - of.hosts_fresh;
  if (!of.partial) return null;
  return <p class="notice">Sums are of the {nounText(of.hosts_fresh, 'host')} that {of.hosts_fresh === 1 ? 'tells' : 'tell'} now; {missing} {missing === 1 ? 'does' : 'do'} not.</p>;
}

const isShort = (job: FleetJob): boolean => job.ranks_expected !== null && job.ranks_present !== null && job.ranks_present < job.ranks_expected;

const OverHosts = ({ job }: { job: FleetJob }) => (
  <>
    {job.first_death && <Death of={job.first_death} />}
    <dl class="facts panel" aria-label="The job over all hosts">
      <Fact label="Ranks, of all">{countText(job.ranks_present)} of {countText(job.ranks_expected)} {isShort(job) && <Badge kind="warn">missing</Badge>}</Fact>
      <Fact label="Hosts with ranks"><Count value={job.hosts} figure="fleet_job.hosts" /></Fact>
      <Fact label="DRAM of all ranks"><Bytes value={job.dram} figure="fleet_job.dram" /></Fact>
      <Fact label="L1 of all ranks"><Bytes value={job.l1} figure="fleet_job.l1" /></Fact>
      <Fact label="Least headroom"><Bytes value={job.headroom} figure="fleet_job.headroom" /> <Name of={tightest(job)} none="" /></Fact>
      <Fact label="Apart in DRAM"><Bytes value={spreadOf(job)} figure="fleet_job.spread" /></Fact>
      <Fact label="Died"><Count value={job.ranks_died} figure="fleet_job.died" /></Fact>
      <Fact label="User"><Name of={job.user} /></Fact>
    </dl>
  </>
);

// Nothing where the daemon knows no engine, or the engine no such job.
export function JobOverHosts({ name }: { name: string }) {
  const { data } = useFleet(hasFleet.value).value;
  const jobs = (data?.jobs ?? []).filter((each) => each.key === name);
  if (!data || jobs.length === 0) return null;
  return (
    <section aria-label="Over all hosts">
      <h2>Over all hosts</h2>
      <Partial of={data} />
      {jobs.map((job) => <OverHosts key={job.user} job={job} />)}
      <h2>On this host</h2>
    </section>
  );
}
