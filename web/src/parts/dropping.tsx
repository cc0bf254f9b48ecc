// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A file that is dropped anywhere on the page is opened as a recording; says how far it is, or why not.
import { useEffect, useState } from 'preact/hooks';
import { recording } from '../live/recording.ts';
import { openFile, sending, sendingProblem } from '../live/opening.ts';
import { bytesText } from '../format/units.ts';
import { visible } from '../format/words.ts';

const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

export function Dropping() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const drag = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) void openFile(file);
    };
    addEventListener('dragover', drag);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', drag);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  const now = sending.value;
  return (
    <div role="status">
      {over && <div class="banner warn" data-banner="drop">Drop a recording of <code>ttmem record</code> to look at it.</div>}
      {now && <div class="banner warn" data-banner="sending">Opening {visible(now.name)}: {bytesText(now.sent)} of {bytesText(now.bytes)}</div>}
      {sendingProblem.value && (
        <div class="banner bad" data-banner="refused">
          {visible(sendingProblem.value)} <button type="button" class="small" onClick={() => (sendingProblem.value = null)}>Close</button>
        </div>
      )}
    </div>
  );
}

// The same for those who drop nothing.
export const FileButton = () =>
  recording.value ? null : (
    <label class="file">
      Open a file <input type="file" onChange={(event) => { const file = event.currentTarget.files?.[0]; if (file) void openFile(file); }} />
    </label>
  );
