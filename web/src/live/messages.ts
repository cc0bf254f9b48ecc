// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What the page and its worker say to each other.
import type { Delta, HistoryEvent, Levels, Snapshot } from './documents.ts';

export interface Wants {
  visible: boolean; // a page that nobody sees, or that was paused, is told nothing
  events: boolean; // also what happened, one by one
  token: string | null;
  at: string | null; // the moment of a recording; null: the present
  recording: string | null; // which of those that were opened in the daemon
}

export type ToWorker = ({ type: 'want' } & Wants) | { type: 'bye' };

export type Connection =
  | { state: 'connecting' | 'live' }
  | { state: 'lost'; since: number; reason: string }
  | { state: 'token'; refused: boolean }; // the daemon asks for one, and did not take what it got

export interface Change {
  type: 'change';
  whole: Snapshot | null; // what is not in it is gone
  delta: Delta | null; // all that changed since what was told before
  levels: Levels[];
}

export type ToPage =
  | { type: 'connection'; connection: Connection }
  | { type: 'events'; events: HistoryEvent[] }
  | Change;
