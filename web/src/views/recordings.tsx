// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The recordings that this daemon keeps (`ttmem serve --recording FILE`), each with the command that opens it.
import { useDocument } from '../live/ask.ts';
import { CopyCommand } from '../parts/copy.tsx';
import { Bytes, Problem } from '../parts/text.tsx';
import { dateText } from '../format/units.ts';
import { visible } from '../format/words.ts';

const EVERY_MS = 10_000;

interface Kept {
  recordings: { path: string; bytes: number; written_ns: number | null }[];
  problem: string | null;
}

const quoted = (path: string): string => (/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

export function Recordings() {
  const { data, problem } = useDocument<Kept>('/api/v1/recordings', EVERY_MS).value;
  const kept = data?.recordings ?? [];
  if (kept.length === 0 && !problem && !data?.problem) return null;
  return (
    <section aria-label="Recordings">
      <h2>Recordings that the daemon keeps</h2>
      <Problem text={problem ?? data?.problem ?? null} />
      <ul>
        {kept.map((each) => (
          <li key={each.path}>
            {visible(each.path)}, <Bytes value={each.bytes} />, <span class="quiet">{dateText(each.written_ns)}</span>{' '}
            <CopyCommand text={`ttmem serve --from ${quoted(each.path)} --open`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
