// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What is shown, for other programs: as JSON, as CSV, as the command that says the same.
import { useState } from 'preact/hooks';
import { pluralOf } from '../format/units.ts';

interface Props {
  json?: string | undefined;
  command?: string | undefined;
  csv?: () => string;
  name: string;
}

function save(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
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

export function Copy({ json, command, csv, name }: Props) {
  return (
    <span class="copy">
      {json && (
        <a class="small" href={json} target="_blank" rel="noopener">
          JSON
        </a>
      )}
      {csv && (
        <button type="button" class="small" onClick={() => save(csv(), `ttmem-${pluralOf(name).replaceAll(' ', '-')}.csv`)}>
          CSV
        </button>
      )}
      {command && <CopyCommand text={command} />}
    </span>
  );
}
