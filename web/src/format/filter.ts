// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// What people write into a filter: words that must occur somewhere, and conditions on a column,
// `space=l1 size>64K op=conv -name=matmul "two words"`. All must hold.
const SUFFIXES: Record<string, number> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

export type Value = string | number | boolean | null | undefined;
// The value of a column by its name; undefined: there is no such column.
export type Fields<Row> = Record<string, (row: Row) => Value>;

interface Term {
  field: string | null;
  operator: string;
  text: string;
  not: boolean;
}

export interface Filter<Row> {
  matches(row: Row): boolean;
  problem: string | null; // what is wrong with the text, in words for the user
}

export function numberOf(text: string): number | null {
  if (/^0x[\da-f]+$/i.test(text)) return Number(text); // an address
  const found = /^(-?\d+(?:\.\d+)?)\s*([kmgt])?(?:i?b)?$/i.exec(text);
  if (!found) return null;
  return Number(found[1]) * (found[2] ? SUFFIXES[found[2].toLowerCase()]! : 1);
}

function terms(text: string): Term[] {
  const found = text.matchAll(/(-)?(?:([a-z_][a-z_0-9]*)(!=|>=|<=|=|>|<))?("[^"]*"?|\S+)/gi);
  return [...found].map(([, not, field, operator, value]) => ({
    field: field?.toLowerCase() ?? null,
    operator: operator ?? '',
    text: value!.replace(/^"|"$/g, '').toLowerCase(),
    not: not !== undefined,
  }));
}

const compare: Record<string, (a: number, b: number) => boolean> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

function holds(value: Value, term: Term): boolean {
  if (value === null || value === undefined) return term.operator === '!=';
  const order = compare[term.operator];
  if (order) return typeof value === 'number' && order(value, numberOf(term.text)!);
  const same = typeof value === 'number' ? value === numberOf(term.text) : String(value).toLowerCase().includes(term.text);
  return term.operator === '!=' ? !same : same;
}

export function parseFilter<Row>(text: string, fields: Fields<Row>): Filter<Row> {
  const all = terms(text);
  const names = Object.keys(fields);
  for (const term of all) {
    if (term.field !== null && !Object.hasOwn(fields, term.field)) {
      return { matches: () => true, problem: `No column "${term.field}". There are: ${names.join(', ')}.` };
    }
    if (compare[term.operator] && numberOf(term.text) === null) {
      return { matches: () => true, problem: `"${term.text}" is not a number; write 65536, 64K or 1.5G.` };
    }
  }
  const matches = (row: Row) =>
    all.every((term) => {
      const number = numberOf(term.text);
      const found =
        term.field === null
          ? names.some((name) => {
              const value = fields[name]!(row);
              // Of a number, as a PID or an address, all of it.
              return typeof value === 'number' ? value === number : typeof value === 'string' && value.toLowerCase().includes(term.text);
            })
          : holds(fields[term.field]!(row), term);
      return found !== term.not;
    });
  return { matches, problem: null };
}
