// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The document `explain`, as far as the page reads it: docs/json.md defines it.
import type { Failure, Figure, Whose } from './documents.ts';

// Why something did not fit: one bank as it was, who held it, and what would have helped.
export interface BankSum {
  asked: Figure;
  held: Figure;
  holes: Figure;
  largest_hole: Figure;
  bank: Figure;
  banks: Figure;
  figures_from: string | null;
}

export interface Strip {
  kind: string;
  begin: number;
  end: number;
  blocks: number;
  free: number;
  name: string | null;
}

export interface HeldOrigin {
  operation: string | null;
  line: string | null;
  region: string | null;
}

export interface ClashSides {
  program: string | null;
  program_line: string | null;
  cores: string | null;
  region_end: Figure;
  lowest_buffer: Figure;
  overlap: Figure;
  buffer: HeldOrigin;
  buffer_bytes: Figure;
}

export interface Holder extends HeldOrigin {
  kind: string;
  bytes: number;
  taken: number;
  count: number;
  lowest: number;
  oldest_ns: Figure;
  last_use_ns: Figure;
}

export interface Cure {
  kind: string;
  text: string;
  call: string | null;
  given: string | null;
}

export interface ExplainDocument extends Whose {
  time_ns: number;
  failure: Failure;
  verdict: string;
  headline: string;
  space: string | null;
  sum: BankSum;
  picture: Strip[] | null;
  clash: ClashSides | null;
  holders: Holder[];
  holders_left_out: number;
  cures: Cure[];
  remarks: string[];
  unknown: string[];
}
