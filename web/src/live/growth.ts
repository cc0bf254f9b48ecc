// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The documents of what grows and of what belongs together: docs/json.md, "leaks", "jobs" and "fleet".
import type { Figure, Whose } from './documents.ts';

export interface Named extends Whose {
  process: string;
}

export interface LeakSuspect extends Named {
  device: number;
  space: string;
  operation: string | null;
  line: string | null;
  region: string | null;
  block: number;
  count: number;
  blocks_per_step: number;
  bytes_per_step: number;
  taken_per_step: number;
  steps_until_full: Figure;
  oldest_ns: Figure;
}

export interface LeaksDocument {
  time_ns: number;
  steps: number;
  steps_from: string | null;
  processes: (Named & { steps: number; looks: number; steps_from: string; known: boolean })[];
  suspects: LeakSuspect[];
  growing_lines: (Named & { device: number; space: string; operation: string | null; line: string | null; region: string | null; taken: number; steps: number })[];
  falling_l1: (Named & { device: number; first: number; last: number; bytes_per_step: number })[];
  growing_caches: (Named & { device: number; programs: number; programs_per_step: number })[];
}

export interface JobRank extends Named {
  rank: Figure;
  host: string | null;
  mesh: Figure;
  alive: boolean;
  ended: string | null;
  ended_ns: Figure;
  dram: Figure;
  l1: Figure;
  dram_peak: Figure;
  l1_peak: Figure;
  headroom: Figure;
  headroom_device: Figure;
  failure_count: number;
}

export interface Spread {
  least: Figure;
  least_rank: Figure;
  most: Figure;
  most_rank: Figure;
}

export interface Job {
  key: string;
  name: string | null;
  source: string;
  user: string | null;
  uid: number;
  ranks_present: number;
  ranks_expected: Figure;
  ranks_missing: number[];
  ranks_died: number;
  dram: Figure;
  l1: Figure;
  dram_peak: Figure;
  l1_peak: Figure;
  dram_spread: Spread;
  l1_spread: Spread;
  least_headroom: JobRank | null;
  first_death: JobRank | null;
  ranks: JobRank[];
}

export interface JobsDocument {
  time_ns: number;
  jobs: Job[];
}

export interface FleetHost {
  host: string;
  state: string;
  problem: string | null;
  age_ns: Figure;
  devices: Figure;
  devices_in_use: Figure;
  devices_untold: Figure;
  processes: Figure;
  dram: Figure;
  dram_capacity: Figure;
  l1: Figure;
  l1_capacity: Figure;
  headroom: Figure;
}

export interface FleetDeath {
  time_ns: Figure;
  rank: string | null;
  host: string | null;
  dram: Figure;
  l1: Figure;
}

export interface FleetJob {
  key: string;
  name: string | null;
  user: string | null;
  hosts: Figure;
  ranks_present: Figure;
  ranks_expected: Figure;
  ranks_died: Figure;
  dram: Figure;
  l1: Figure;
  dram_least_rank: Figure;
  dram_most_rank: Figure;
  headroom: Figure;
  headroom_rank: string | null;
  headroom_host: string | null;
  first_death: FleetDeath | null;
}

export interface FleetDocument {
  time_ns: number;
  source: string | null;
  partial: boolean;
  hosts_fresh: number;
  devices: number;
  devices_in_use: number;
  devices_untold: number;
  dram: Figure;
  dram_capacity: Figure;
  l1: Figure;
  l1_capacity: Figure;
  headroom: Figure;
  hosts: FleetHost[];
  jobs: FleetJob[];
  alerts: string[];
  problems: string[];
}
