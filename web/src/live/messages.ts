// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the page and its worker say to each other.
import type { Device, HistoryEvent, Levels, Process } from './documents.ts';

export interface Wants {
  visible: boolean; // a page that nobody sees, or that was paused, is told nothing
  events: boolean; // also what happened, one by one
  token: string | null;
  at: string | null; // the moment of a recording; null: the present
}

export type ToWorker = ({ type: 'want' } & Wants) | { type: 'bye' };

export type Connection =
  | { state: 'connecting' | 'live' }
  | { state: 'lost'; since: number; reason: string }
  | { state: 'token' }; // the daemon asks for one

export interface Change {
  type: 'change';
  full: boolean; // these are all: what is not here is gone
  host: string;
  time_ns: number;
  devices: Device[];
  processes: Process[];
  goneDevices: number[];
  goneProcesses: string[];
  unreadable: string[];
  left_behind: string[];
  directories: string[];
  levels: Levels[];
}

export type ToPage =
  | { type: 'connection'; connection: Connection }
  | { type: 'events'; events: HistoryEvent[] }
  | Change;
