// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The documents of the daemon, as far as the page reads them: docs/json.md and docs/http.md define
// them. What is not known is null.
export type Figure = number | null;

// Which process: a pid alone does not say it, as containers have their own and pids are used again.
export interface Whose {
  pid: number;
  start: number;
  segment: string | null;
}

export interface Space {
  capacity: Figure;
  taken: Figure;
  occupied: Figure;
  requested: Figure;
  peak: Figure;
  count: Figure;
  largest_free: Figure;
}

export interface CoreName {
  type: string;
  x: number;
  y: number;
}

export interface KernelType {
  count: Figure;
  programs: Figure;
  footprint: Figure;
}

export interface Ring {
  core_type: string;
  queue: number;
  sub_device: number;
  capacity: number;
  used: number;
  programs: number;
  largest_program: number;
  high_water: number;
  headroom: number;
  free: number;
  largest_free: number;
  would_evict: number;
  evictions: number;
  reloads: number;
  source: string;
}

export interface Host {
  node: number;
  bus: string | null;
  temperature_millidegrees: Figure;
  power_microwatts: Figure;
  aiclk_mhz: Figure;
}

export interface Device {
  id: number;
  unique_id: string;
  board: string | null;
  arch: string;
  mock: boolean;
  grid: { x: number; y: number } | null;
  tensix_cores: Figure;
  eth_cores: Figure;
  dispatch_cores: Figure;
  l1_bytes_per_core: Figure;
  dram_banks: Figure;
  processes: number;
  nominal: { dram_bytes: number; l1_bytes: number } | null;
  host: Host | null;
  dram: Space;
  l1: Space;
  l1_small: Space;
  trace: Space;
  l1_total: { capacity: Figure; used: Figure };
  program_l1: { resident: Figure; reserved: Figure; allocated: Figure; peak: Figure; count: Figure };
  kernels: {
    application: KernelType;
    fabric: KernelType;
    dispatch: KernelType;
    estimated: KernelType;
    total: KernelType;
    registered: Figure;
    in_dram: Figure;
    code_bytes: Figure;
    unique_bytes: Figure;
    by_core_type: Record<string, Figure>;
    shared_code: { name: string | null; bytes: number; kernels: number }[];
    dispatches: Figure;
    first_loads: Figure;
    cache_hits: Figure;
    reloads: Figure;
    evictions: Figure;
    replays: Figure;
    sizes: string;
  };
  ring: Ring | null;
  rings: Ring[];
  headroom: { min: Figure; min_reserved: Figure; core: CoreName | null };
  basis: string;
  peak_basis: string;
}

export interface Tracking {
  exact: boolean | null;
  difference_bytes: Figure;
  since: string;
  partial: boolean;
  disconnected: boolean;
  hooks_missing: string[];
  unrecorded: number;
  lost_events: number;
  unsettled: number;
  dangling: number;
  anomalies: Record<string, number>;
  not_tmpfs: boolean;
  growth_stopped: boolean;
  lines: string | null;
  lines_reason: string | null;
  unreached: boolean;
  stacks_cut: boolean;
  upstream_difference_bytes: Figure;
}

export interface Failure {
  number: number;
  kind: string;
  time_ns: Figure;
  message: string | null;
  requested: Figure;
  per_bank: Figure;
  space: string | null;
  program: string | null;
  devices: string[];
  cores: string | null;
  operation: string | null;
  line: string | null;
  holdings: number;
  truncated: boolean;
}

export interface ProcessFailure extends Failure, Whose {
  process: string;
  alive: boolean;
  picture: Holding[] | null;
}

export interface Mesh {
  rows: number;
  columns: number;
  devices: number[];
}

export interface Held {
  dram: Figure;
  dram_requested: Figure;
  l1: Figure;
  l1_requested: Figure;
  l1_small: Figure;
  trace: Figure;
  program_l1: Figure;
  kernels: Figure;
  dispatches: Figure;
}

export interface Process extends Whose {
  name: string;
  command: string | null;
  hidden: boolean; // somebody else's: what its code looks like is not told here
  user: string | null;
  uid: number;
  alive: boolean;
  ended: string | null;
  started_ns: Figure;
  ended_ns: Figure;
  sources: string[];
  runtime_version: string | null;
  container: string | null;
  pod: { name: string | null; namespace: string | null } | null;
  job: { key: string; name: string | null; rank: Figure; ranks: Figure } | null;
  host_pid: Figure;
  tracking: Tracking;
  failures: Failure[]; // the first four and the last four
  failure_count: number;
  devices: { id: number; unique_id: string; metal_id: Figure; open: boolean; in_mesh: boolean; contradiction: string | null }[];
  meshes: Mesh[];
  held: Held;
  events: number;
}

export interface Snapshot {
  host: string;
  boot_id: string;
  time_ns: number;
  devices: Device[];
  processes: Process[];
  unreadable: string[];
  directories: string[];
  left_behind: string[];
}

export interface Delta {
  time_ns: number;
  devices: (Partial<Device> & { id: number })[];
  processes: (Partial<Process> & Whose)[];
  gone_devices: { id: number }[];
  gone_processes: Whose[];
  unreadable: string[];
  left_behind: string[];
}

// How full the cores of a device are, one character per worker core: docs/http.md, the message `cores`.
export interface Levels {
  id: number;
  columns: number;
  rows: number;
  levels: string;
}

export interface Clash {
  program: string | null;
  buffer: string | null;
  process: string;
  pid: number;
}

export interface Stretch {
  kind: string;
  begin: number;
  end: number;
  name: string | null;
  owner: string | null;
  pid: Figure;
  start: Figure;
}

export interface CoreL1 extends CoreName {
  role: string;
  noc_x: Figure;
  noc_y: Figure;
  l1_bytes: Figure;
  fixed: number;
  ring: number;
  program_l1: number;
  gaps: number;
  free: number;
  buffers: number;
  l1_small: number;
  buffers_occupied: number;
  l1_small_taken: number;
  headroom: Figure;
  headroom_reserved: Figure;
  clash: Clash | null;
  reserved: number;
  kernel_footprint: number;
  ring_used: number;
  map: Stretch[] | null;
  kernels: { name: string | null; program: string | null; type: string; processor: string; bytes: number }[] | null;
}

export interface CoresDocument {
  devices: { id: number; unique_id: string; cores: CoreL1[] }[];
}

export interface BankBlock {
  begin: number;
  end: number;
  id: string;
  pid: number;
  process: string;
  operation: string | null;
  line: string | null;
  since_ns: Figure;
}

export interface Bank {
  space: string;
  banks: number;
  begin: number;
  end: number;
  blocks: BankBlock[];
  truncated: boolean;
  free_bytes: number;
  free_blocks: number;
  free: { begin: number; end: number }[];
}

export interface Holding extends Whose {
  kind: string;
  process: string;
  alive: boolean;
  devices: number[];
  id: string;
  index: Figure;
  name: string | null;
  operation: string | null;
  line: string | null;
  source: string | null;
  space: string | null;
  layout: string | null;
  type: string | null;
  part: string | null;
  core_type: string | null;
  processor: string | null;
  address: Figure;
  cores: Figure;
  core_set: string | null;
  requested: Figure;
  block: Figure;
  occupied: Figure;
  taken: Figure;
  packed: Figure;
  footprint: Figure;
  code: string | null; // hash of a kernel's binary
  loaded: boolean | null;
  estimated: boolean;
  kernel_binaries: boolean;
  since_ns: Figure;
  last_dispatch_ns: Figure;
  dispatches: Figure;
  cache_hits: Figure;
  reloads: Figure;
}

export interface HoldingsDocument {
  time_ns: number;
  holdings: Holding[];
  total: number;
  next: string | null;
  changed: boolean;
}

export interface Program extends Whose {
  process: string;
  id: string;
  workload: string | null;
  name: string | null;
  line: string | null;
  type: string;
  loaded: boolean;
  devices: number[];
  kernels: number;
  cores: number;
  core_set: string | null;
  footprint: number;
  l1_allocated: number;
  l1_largest_core: number;
  views: number;
  config_bytes: Record<string, Figure>;
  in_ring: boolean | null;
  dispatches: Figure;
  cache_hits: Figure;
  reloads: Figure;
  registered_ns: Figure;
  last_dispatch_ns: Figure;
  dispatches_per_second: Figure;
  replays: Figure;
  recent_per_second: Figure;
}

export interface LaunchInterval {
  time_ns: number;
  launches: number;
  replays: number;
  marks: string[];
}

// Which program ran when: one that is not listed had no launch.
export interface ProgramLaunches extends Whose {
  process: string;
  id: string;
  name: string | null;
  devices: number[];
  recent_per_second: Figure;
  since_ns: Figure;
  until_ns: Figure;
  intervals: LaunchInterval[];
}

export interface LaunchesDocument {
  time_ns: number;
  interval_ns: number;
  programs: ProgramLaunches[];
}

export interface RingSlice {
  begin: number;
  end: number;
  workload: string | null;
  name: string | null;
  live: boolean;
  in_use: boolean;
}

export interface RingContents extends Ring, Whose {
  process: string;
  base: number;
  slices: RingSlice[];
}

export interface OriginSpace {
  taken: Figure;
  at_peak: Figure;
  recent: Figure;
  buffers: number;
}

export interface OriginBytes {
  dram: OriginSpace;
  l1: OriginSpace;
  l1_small: OriginSpace;
  trace: OriginSpace;
  program_l1: number;
  kernels: number;
  programs: number;
}

export interface Origin extends OriginBytes {
  name: string | null;
  path: string[];
  pids: number[];
  processes: (Whose & { process: string })[];
}

export interface OriginsDocument {
  time_ns: number;
  by: string;
  origins: Origin[];
  total: OriginBytes;
}

export interface HistoryEvent extends Whose {
  time_ns: Figure;
  process: string;
  number: Figure;
  event: string;
  devices: { id: number }[];
  id: string | null;
  name: string | null;
  operation: string | null;
  line: string | null;
  space: string | null;
  requested: Figure;
  taken: Figure;
  footprint: Figure;
  missed: Figure;
  ended: string | null;
  reason: string | null;
  estimated: boolean | null;
}

export interface Series {
  device: Figure;
  unique_id: string | null;
  run: Figure;
  pid: Figure;
  process: string | null;
  min: Figure[];
  max: Figure[];
  last: Figure[];
}

export interface HistoryDocument {
  metric: string;
  unit: string;
  from_s: number;
  to_s: number;
  step_s: number;
  series: Series[];
}
