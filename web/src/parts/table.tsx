// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A table that is filtered, sorted and scrolled: of many rows only those in sight are in the page.
// What it is filtered and sorted by stands in the address.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseFilter, type Fields, type Value } from '../format/filter.ts';
import { countText, nounText, pluralOf } from '../format/units.ts';
import { csvText } from '../format/csv.ts';
import { parameter, setParameters } from '../route.ts';
import { Copy } from './copy.tsx';
import { Empty, Unanswered } from './text.tsx';

const ROW_PX = 30;
const SPARE_ROWS = 8; // above and below those in sight
const NOTHING = new Set<string>();

export interface Column<Row> {
  name: string; // in filters, in the address and in CSV
  title: string;
  value: (row: Row) => Value;
  cell?: (row: Row) => ComponentChildren;
  width?: string; // of the style sheet's grid; the rest is shared
  number?: boolean; // to the right, the largest first
  spare?: number; // where there is no room for all columns, this one is folded: the largest first
}

interface Props<Row> {
  label: string;
  noun: string;
  columns: Column<Row>[];
  rows: Row[] | null; // null: not answered yet, which is not the same as none
  rowKey: (row: Row) => string;
  sort: string; // "-taken": by this column, the largest first
  empty: string;
  prefix?: string; // of the parameters in the address, where a view has several tables
  rowClass?: (row: Row) => string;
  json?: string; // where the same is as JSON
  command?: string; // that says the same in a terminal
  extra?: Fields<Row>; // what can be filtered by and is no column
}

const order = (a: Value, b: Value): number => {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // unknown last, whichever way round
  if (b === null || b === undefined) return -1;
  return typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : a < b ? -1 : 1;
};

function sorted<Row>(rows: Row[], columns: Column<Row>[], by: string): Row[] {
  const down = by.startsWith('-');
  const column = columns.find((each) => each.name === by.replace(/^-/, ''));
  if (!column) return rows;
  return rows
    .map((row) => [column.value(row), row] as const)
    .sort(([a], [b]) => {
      const unknown = a === null || a === undefined || b === null || b === undefined;
      return down && !unknown ? -order(a, b) : order(a, b);
    })
    .map(([, row]) => row);
}

const widthOf = <Row,>(column: Column<Row>): number => parseFloat(column.width ?? '0');

// The columns that have no room in so many rem.
function foldedIn<Row>(columns: Column<Row>[], room: number): Set<string> {
  const folded = new Set<string>();
  let wide = columns.reduce((sum, column) => sum + widthOf(column), 0);
  const spares = columns.filter((column) => column.spare !== undefined).sort((a, b) => b.spare! - a.spare!);
  for (const column of spares) {
    if (wide <= room) break;
    wide -= widthOf(column);
    folded.add(column.name);
  }
  return folded;
}

export function Table<Row>(props: Props<Row>) {
  const { columns, prefix = '' } = props;
  const rows = props.rows ?? [];
  const part = useRef<HTMLElement>(null);
  const [room, setRoom] = useState(Infinity);
  useLayoutEffect(() => {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const watch = new ResizeObserver(([entry]) => setRoom(Math.floor(entry!.contentRect.width / rem)));
    watch.observe(part.current!);
    return () => watch.disconnect();
  }, []);
  const all = parameter(`${prefix}columns`) === 'all';
  const folded = useMemo(() => foldedIn(columns, room), [columns, room]);
  const filterText = parameter(`${prefix}filter`);
  const by = parameter(`${prefix}sort`) || props.sort;
  const fields = useMemo<Fields<Row>>(
    () => ({ ...Object.fromEntries(columns.map((column) => [column.name, column.value])), ...props.extra }),
    [columns, props.extra],
  );
  const filter = useMemo(() => parseFilter(filterText, fields), [filterText, fields]);
  const shown = useMemo(
    () => sorted(filterText ? rows.filter(filter.matches) : rows, columns, by),
    [props.rows, filter, by, columns],
  );
  const csv = () => csvText([columns.map((column) => column.name), ...shown.map((row) => columns.map((column) => column.value(row)))]);
  return (
    <section class="table-part" aria-label={props.label} ref={part}>
      <div class="table-head">
        <input
          type="search"
          class="filter"
          aria-label={`Filter ${props.label}`}
          placeholder={`Filter: words, or ${columns.slice(0, 3).map((column) => column.name).join('=, ')}=, …`}
          value={filterText}
          onInput={(event) => setParameters({ [`${prefix}filter`]: event.currentTarget.value })}
        />
        <span class="quiet" role="status">
          {!props.rows ? '' : shown.length === rows.length ? nounText(rows.length, props.noun) : `${countText(shown.length)} of ${nounText(rows.length, props.noun)}`}
        </span>
        {folded.size > 0 && (
          <button type="button" class="small" aria-pressed={all} onClick={() => setParameters({ [`${prefix}columns`]: all ? null : 'all' })}
            title={columns.filter((column) => folded.has(column.name)).map((column) => column.title).join(', ')}>
            {all ? 'Fold columns' : `${nounText(folded.size, 'more column')}`}
          </button>
        )}
        <Copy json={props.json} command={props.command} csv={csv} name={pluralOf(props.noun)} />
      </div>
      {filter.problem && <p class="problem">{filter.problem}</p>}
      {!props.rows ? <Unanswered /> : shown.length === 0 ? (
        <Empty title={rows.length === 0 ? props.empty : 'Nothing matches the filter.'} />
      ) : (
        <Rows {...props} shown={shown} by={by} folded={all ? NOTHING : folded} onSort={(next) => setParameters({ [`${prefix}sort`]: next === props.sort ? null : next })} />
      )}
    </section>
  );
}

function Rows<Row>(props: Omit<Props<Row>, 'rows'> & { shown: Row[]; by: string; folded: Set<string>; onSort: (by: string) => void }) {
  const { columns, shown, by, folded } = props;
  const hidden = (column: Column<Row>): string | undefined => (folded.has(column.name) ? 'folded' : undefined);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => setHeight(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX), shown.length) - SPARE_ROWS);
  const last = Math.min(shown.length, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS);
  return (
    <div class="table-box" ref={box} tabIndex={0} role="region" aria-label={`${props.label}, rows`} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table aria-rowcount={shown.length + 1}>
        <colgroup>
          {columns.map((column) => (
            <col key={column.name} class={hidden(column)} style={column.width ? { width: column.width } : undefined} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.name} column={column} by={by} hidden={hidden(column)} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Space rows={first} />}
          {shown.slice(first, last).map((row, i) => (
            <tr key={props.rowKey(row)} class={props.rowClass?.(row)} aria-rowindex={first + i + 2}>
              {columns.map((column) => (
                <td key={column.name} class={hidden(column) ?? (column.number ? 'number' : undefined)} data-column={column.name}>
                  <div class="cell">{column.cell ? column.cell(row) : (column.value(row) ?? '-')}</div>
                </td>
              ))}
            </tr>
          ))}
          {last < shown.length && <Space rows={shown.length - last} />}
        </tbody>
      </table>
    </div>
  );
}

const Space = ({ rows }: { rows: number }) => <tr class="space" aria-hidden="true" style={{ height: `${rows * ROW_PX}px` }} />;

function Head<Row>({ column, by, hidden, onSort }: { column: Column<Row>; by: string; hidden: string | undefined; onSort: (by: string) => void }) {
  const down = by === `-${column.name}`, up = by === column.name;
  const next = down ? column.name : up ? `-${column.name}` : column.number ? `-${column.name}` : column.name;
  return (
    <th scope="col" class={hidden ?? (column.number ? 'number' : undefined)} aria-sort={down ? 'descending' : up ? 'ascending' : 'none'}>
      <button type="button" class="plain" onClick={() => onSort(next)} title={`Sort by ${column.title}`}>
        {column.title}
        <span aria-hidden="true">{down ? '\u00a0▾' : up ? '\u00a0▴' : ''}</span>
      </button>
    </th>
  );
}
