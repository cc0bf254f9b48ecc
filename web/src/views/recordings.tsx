// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Recordings: those that this daemon keeps (`ttmem serve --recording FILE`), and a file of one's own.
import { useDocument } from '../live/ask.ts';
import { openKept } from '../live/opening.ts';
import { CopyCommand } from '../parts/copy.tsx';
import { FileButton } from '../parts/dropping.tsx';
import { Bytes, Problem } from '../parts/text.tsx';
import { dateText, missingText } from '../format/units.ts';
import { visible } from '../format/words.ts';

const EVERY_MS = 10_000;

interface Kept {
  recordings: { path: string; bytes: number; written_ns: number | null }[];
  missed: number | null;
  problem: string | null;
}

const quoted = (path: string): string => (/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

export function Recordings() {
  const { data, problem, note } = useDocument<Kept>('/api/v1/recordings', EVERY_MS).value;
  const kept = data?.recordings ?? [];
  return (
    <>
      <h1>Recordings</h1>
      <section class="panel" aria-label="A file">
        <h2>A file</h2>
        <p>Drop it anywhere on this page, or choose it. It goes to your own daemon, which shows it with a bar of time and removes it when you close it.</p>
        <p><FileButton /></p>
        <p class="quiet">Record one: <CopyCommand text="ttmem record -o night.ttm" /></p>
        <p class="quiet">A recording on this machine: <CopyCommand text="ttmem serve --from night.ttm --open" /></p>
      </section>
      <section class="panel" aria-label="Kept">
        <h2>What the daemon keeps</h2>
        <Problem text={problem ?? data?.problem ?? null} note={note} />
        {data && kept.length === 0 && <p>Nothing. The last hour is kept by <CopyCommand text="ttmem serve --recording hour.ttm" /></p>}
        {kept.length > 0 && (
          <div class="wide" tabIndex={0} role="group" aria-label="Recordings that are kept">
            <table class="plain-table">
              <thead><tr><th scope="col">File</th><th scope="col" class="number">Bytes</th><th scope="col">Written</th><th scope="col">Look at it</th></tr></thead>
              <tbody>
                {kept.map((each) => (
                  <tr key={each.path}>
                    <td class="long">{visible(each.path)}</td>
                    <td class="number"><Bytes value={each.bytes} /></td>
                    <td>{dateText(each.written_ns)}</td>
                    <td class="long"><button type="button" class="small" onClick={() => void openKept(each.path)}>Open</button> <CopyCommand text={`ttmem serve --from ${quoted(each.path)} --open`} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {data?.missed ? <p class="quiet">{missingText(data.missed)}.</p> : null}
      </section>
    </>
  );
}
