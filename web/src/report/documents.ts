// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What stands in the file of a report: src/report/html.cpp writes it.
import type { CoreL1, Device, Figure, Holding, LaunchesDocument, Process, Program } from '../live/documents.ts';
import type { ExplainDocument } from '../live/explained.ts';

export interface HeldRows<Row> {
  rows: (Row & { bytes: number; buffers: Figure })[];
  others: number;
  other_bytes: number;
}

export interface SpacePeak {
  space: string;
  time_ns: Figure; // null: each process had its own
  bytes: number;
  capacity: Figure;
  lines: HeldRows<{ name: string | null }>;
  stacks: HeldRows<{ path: string[] }>;
}

export interface ReportDocument {
  host: string;
  time_ns: number;
  version: string;
  of: string;
  recorded: boolean;
  summary: string[];
  curve: { first_ns: number; last_ns: number; most: Record<string, number[]> };
  failed: { time_ns: number; pid: number; number: number }[];
  peaks: SpacePeak[];
  devices: Device[];
  other_devices: number;
  processes: Process[];
  other_processes: number;
  l1: { device: number; time_ns: number; cores: CoreL1[]; core: CoreL1; holdings: Holding[] } | null;
  programs: Program[];
  other_programs: number;
  launches: LaunchesDocument;
  failures: ExplainDocument[];
  other_failures: number;
}
