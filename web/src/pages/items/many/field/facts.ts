// Predicts the effect of a field change from the loaded rows: how many change, types that are
// replaced, an example, and the new expiry. Pure.
import { count } from '../../../../pure/figures/amount';
import { inWords } from '../../../../pure/time/duration';
import { type Kind, kindOf } from '../../../../pure/values/kind';
import { valueAtPath } from '../../../../pure/values/path';
import type { Row, Source } from '../../source';
import { type FieldChange, planned, touched } from './change';

/** Maximum number of rows examined while typing. */
const MOST = 5000;
const SHOWN = 200;

export interface Facts {
  looked: number;
  changed: readonly Row[];
  same: number;
  refused: { count: number; why: string };
  /** Types of values that another type replaces, with their number. */
  others: readonly (readonly [Kind, number])[];
  /** Number of rows that already have a field of the new name. */
  replaced: number;
  example: { name: string; before: string; after: string } | null;
}

function counts<T>(all: Iterable<T>): [T, number][] {
  const found = new Map<T, number>();
  for (const one of all) found.set(one, (found.get(one) ?? 0) + 1);
  return [...found].sort((a, b) => b[1] - a[1]);
}

function partText(value: unknown, change: FieldChange, whole: Source['whole']): string {
  const said = touched(change).map((path) => {
    const held = valueAtPath(value, path);
    const text = held === undefined ? '(missing)' : whole(held);
    return `${path.join('.')}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`;
  });
  return said.join('\n');
}

export function factsOf(
  rows: readonly Row[],
  change: FieldChange,
  { whole }: Pick<Source, 'whole'>,
): Facts {
  const some = rows.slice(0, MOST);
  const changed: Row[] = [];
  const refused = { count: 0, why: '' };
  let same = 0;
  let example: Facts['example'] = null;
  for (const row of some) {
    const plan = planned(row.value, change);
    if ('error' in plan) {
      refused.count += 1;
      refused.why ||= plan.error;
    } else if ('same' in plan) same += 1;
    else {
      changed.push(row);
      example ??= {
        name: row.name,
        before: partText(row.value, change, whole),
        after: partText(plan.to, change, whole),
      };
    }
  }
  const kindAt = (row: Row) => kindOf(valueAtPath(row.value, change.path));
  const others =
    change.does === 'set'
      ? counts(changed.map(kindAt).filter((kind) => kind !== kindOf(change.value)))
      : [];
  const replaced =
    change.does === 'rename'
      ? changed.filter(({ value }) => valueAtPath(value, change.to) !== undefined).length
      : 0;
  return { looked: some.length, changed, same, refused, others, replaced, example };
}

const areOf = (n: number) => (n === 1 ? 'is' : 'are');

/** Describes how many rows change and how many do not. */
export function changedWords(facts: Facts, n: number | null): string {
  const { looked, changed, same, refused, others, replaced } = facts;
  const of = looked === n ? `Of ${count(looked)}` : `Of the ${count(looked)} loaded`;
  const parts = [`${count(changed.length)} will change`];
  if (same > 0) parts.push(`${count(same)} ${areOf(same)} unchanged and will not be written`);
  if (refused.count > 0) parts.push(`${count(refused.count)} cannot be changed: ${refused.why}`);
  const said = [`${of}: ${parts.join('; ')}`.replace(/\.?$/, '.')];
  if (others.length > 0) {
    const total = others.reduce((sum, [, one]) => sum + one, 0);
    const kinds = others.map(
      ([kind, one]) => `${count(one)} ${kind === 'missing' ? 'have no such field' : kind}`,
    );
    said.push(`${count(total)} currently have another type: ${kinds.join(', ')}.`);
  }
  if (replaced > 0)
    said.push(`${count(replaced)} already have a field with the new name: it will be replaced.`);
  return said.join(' ');
}

type About = Pick<Source, 'api' | 'defaultTtl'>;

/** Describes the expiry of the rows after the change. */
export function restartWords({ api, defaultTtl }: About, rows: readonly Row[]): string {
  const by = (which: string) => rows.filter(({ expiry }) => expiry.by === which);
  const [inherited, own] = [by('default'), by('ttl')];
  const dated = counts(
    rows.flatMap(({ expiry }) =>
      expiry.by === null || expiry.by === 'default' || expiry.by === 'ttl' ? [] : [expiry.by],
    ),
  );
  if (defaultTtl === null && dated.length === 0)
    return api === 'nosql'
      ? 'TTL is off here: nothing expires.'
      : 'There is no default TTL here: the change does not restart countdowns.';
  const parts: string[] = [];
  if (inherited.length > 0 && defaultTtl !== null)
    parts.push(`${count(inherited.length)} by the default, ${inWords(defaultTtl)} after it`);
  if (own.length > 0) {
    const seconds = own.map(({ value }) => Number(String(value.ttl)));
    const least = seconds.reduce((a, b) => Math.min(a, b));
    const most = seconds.reduce((a, b) => Math.max(a, b));
    const span = least === most ? inWords(least) : `${inWords(least)} to ${inWords(most)}`;
    parts.push(`${count(own.length)} by their own ttl, ${span} after it`);
  }
  for (const [name, n] of dated)
    parts.push(`${count(n)} by index ${name}, which counts from a date in the document`);
  const never = rows.length - inherited.length - own.length - dated.reduce((n, [, m]) => n + m, 0);
  if (never > 0) parts.push(`${count(never)} never`);
  const expire = parts.length === 0 ? '' : ` They expire: ${parts.join('; ')}.`;
  return `Each change is a write and restarts the TTL.${expire}`;
}
