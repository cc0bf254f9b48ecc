// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Processes by name and pid, each a link to its view.
import type { Whose } from '../live/documents.ts';
import { path } from './alarms.tsx';
import { Name } from './text.tsx';

const MOST = 3;

export function Processes({ of }: { of: (Whose & { process: string })[] }) {
  return (
    <>
      {of.slice(0, MOST).map((each, i) => (
        <span key={`${each.pid}-${each.start}`}>
          {i > 0 && ', '}
          <a href={path(each)}><Name of={each.process} /> {each.pid}</a>
        </span>
      ))}
      {of.length > MOST && ` and ${of.length - MOST} more`}
    </>
  );
}
