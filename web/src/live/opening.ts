// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Opens a recording in one's own daemon: one that it keeps, or a file, which is sent in pieces and removed there
// afterwards. docs/http.md, "Opening a recording".
import { signal } from '@preact/signals';
import { token } from './live.ts';

const PATH = '/api/v1/recordings', PIECE = 64 * 1024;

// What is being sent: null, nothing.
export const sending = signal<{ name: string; sent: number; bytes: number } | null>(null);
export const sendingProblem = signal<string | null>(null);

interface Told {
  key: string;
  bytes: number;
}

async function post(path: string, body?: Blob): Promise<Told> {
  const bearer = token();
  const response = await fetch(path, { method: 'POST', body: body ?? null, headers: bearer ? { Authorization: `Bearer ${bearer}` } : {} });
  const told = (await response.json()) as Told & { error?: { message: string } };
  if (!response.ok) throw new Error(told.error?.message ?? `the daemon answered ${response.status}`);
  return told;
}

async function send(file: File): Promise<string> {
  const { key } = await post(`${PATH}?name=${encodeURIComponent(file.name)}`);
  for (let sent = 0; sent < file.size; ) {
    sending.value = { name: file.name, sent, bytes: file.size };
    sent = (await post(`${PATH}/${key}?offset=${sent}`, file.slice(sent, sent + PIECE))).bytes;
  }
  return key;
}

// Asks once, so that a file that is none is told here and not by an empty page.
async function show(key: string): Promise<void> {
  const path = `/api/v1/recording?recording=${key}`;
  const response = await fetch(path);
  const told = (await response.json()) as { error?: { message: string } };
  if (!response.ok) throw new Error(told.error?.message ?? `the daemon answered ${response.status}`);
  location.assign(`/?recording=${key}`);
}

async function open(name: string, bytes: number, how: () => Promise<string>): Promise<void> {
  if (sending.peek()) return;
  sendingProblem.value = null;
  sending.value = { name, sent: 0, bytes };
  try {
    await show(await how());
  } catch (problem) {
    sendingProblem.value = `${name}: ${(problem as Error).message}`;
  }
  sending.value = null;
}

export const openFile = (file: File): Promise<void> => open(file.name, file.size, () => send(file));
export const openKept = (path: string): Promise<void> => open(path, 0, async () => (await post(`${PATH}?kept=${encodeURIComponent(path)}`)).key);

export async function closeOpened(key: string): Promise<void> {
  try {
    await post(`${PATH}/${key}/close`);
  } catch {
    // it was closed already
  }
  location.assign('/');
}
