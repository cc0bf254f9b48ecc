// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is shown, for other programs and other people: as JSON, as CSV, as a picture, and as the command
// that says the same.
import { useState } from 'preact/hooks';
import { token } from '../live/live.ts';
import { recording, withMoment } from '../live/recording.ts';
import { pngOf } from './png.ts';

interface Props {
  json?: string | undefined;
  command?: string | undefined;
  csv?: () => string;
  png?: boolean; // of `[data-picture]` in the same section
  name: string; // of the file
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A tab of its own would not have the token: then the document is saved instead.
async function saveDocument(path: string, name: string): Promise<void> {
  const response = await fetch(withMoment(path), { headers: { Authorization: `Bearer ${token()}` } });
  if (response.ok) save(await response.blob(), name);
}

async function savePicture(button: HTMLElement, name: string): Promise<void> {
  const picture = button.closest('section')?.querySelector('[data-picture]');
  const blob = picture && (await pngOf(picture));
  if (blob) save(blob, name);
}

// Without https only a page of this machine may use the clipboard: else the text is selected by hand.
export function CopyCommand({ text, label = text }: { text: string; label?: string }) {
  const [done, setDone] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone('Copied');
    } catch {
      setDone('Not allowed here: select it');
    }
    setTimeout(() => setDone(''), 2000);
  };
  return (
    <span class="command">
      <code>{label}</code>
      <button type="button" class="small" onClick={copy} aria-label={`Copy the command ${text}`}>
        Copy
      </button>
      <span role="status" class="quiet">
        {done}
      </span>
    </span>
  );
}

export function Copy({ json, command, csv, png, name }: Props) {
  const file = `ttmem-${name.toLowerCase().match(/\w+/g)!.join('-')}`;
  return (
    <span class="copy">
      {json && (
        <a class="small" href={withMoment(json)} target="_blank" rel="noopener" onClick={(event) => {
          if (!token()) return;
          event.preventDefault();
          void saveDocument(json, `${file}.json`);
        }}>
          JSON
        </a>
      )}
      {csv && (
        <button type="button" class="small" onClick={() => save(new Blob([csv()], { type: 'text/csv' }), `${file}.csv`)}>
          CSV
        </button>
      )}
      {png && (
        <button type="button" class="small" onClick={(event) => void savePicture(event.currentTarget, `${file}.png`)}>
          PNG
        </button>
      )}
      {command && !recording.value && <CopyCommand text={command} />}
    </span>
  );
}
