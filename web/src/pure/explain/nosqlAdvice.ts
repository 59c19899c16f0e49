// Shows the execution of a NoSQL query as a tree, and suggests an included path or composite index
// that the indexing policy lacks. Parses the query leniently; parts that it cannot parse yield no
// advice.

import { sqlAlias } from '../values/sqlAlias';
import { SYSTEM_FIELDS } from '../values/system';
import type { PlanNode } from './plan';
import { isIncluded, type Policy } from './policy';
import { isWasteful, walked } from './walked';

export interface NosqlRun {
  text: string;
  /** Query metrics by name. */
  metrics: ReadonlyMap<string, number>;
  /** Indexes that were used; null: not reported. */
  indexes: readonly string[] | null;
}

/** Returns the path of an index specification like `/n/?` or, in a composite one, `/n ASC`. */
function specPath(spec: string): string {
  return spec.replace(/\/\?$|\s+(?:ASC|DESC)\w*$/i, '');
}

/** Returns the indexes that serve an order, one per path; null: the server sorted. */
function orderIndex(order: Clauses['order'], indexes: readonly string[]): string | null {
  const specs = order.map(({ field }) => indexes.find((one) => specPath(one) === pathOf(field)));
  return order.length === 0 || specs.includes(undefined) ? null : specs.join(', ');
}

/** Returns the plan node of an order; null: the query has none. */
function orderNode({ text, indexes }: NosqlRun, read: PlanNode): PlanNode | null {
  const { order, isOrdered } = clausesOf(text);
  if (!isOrdered) return null;
  const index = orderIndex(order, indexes ?? []);
  const paths = order.map(
    ({ field, isDescending }) => `${pathOf(field)} ${isDescending ? 'descending' : 'ascending'}`,
  );
  const how = index === null ? 'Sort' : 'Order by index';
  const by = paths.length === 0 ? '' : `${index === null ? ' by' : ':'} ${paths.join(', ')}`;
  return { ...read, stage: how + by, index, documentsExamined: null, children: [read] };
}

/** Builds the plan of a query: output, sort, document reads, index lookups. */
export function nosqlPlan(run: NosqlRun): PlanNode {
  const { metrics, indexes } = run;
  const plain = { index: null, keys: null, keysExamined: null, documentsExamined: null };
  const of = (name: string) => metrics.get(name) ?? null;
  const lookups = (indexes ?? []).map(
    (index): PlanNode => ({ ...plain, stage: 'Index', index, returned: null, children: [] }),
  );
  const read: PlanNode = {
    ...plain,
    stage: lookups.length > 0 ? 'Read by index' : 'Read all',
    documentsExamined: of('retrievedDocumentCount'),
    returned: null,
    children: lookups,
  };
  const returned = of('outputDocumentCount');
  return { ...plain, stage: 'Query', returned, children: [orderNode(run, read) ?? read] };
}

export interface NosqlAdvice {
  sentence: string;
  /** Paths to add to `includedPaths`, like `/n/?`. */
  include: string[];
  /** Composite index to add; null: none. */
  composite: { path: string; order: 'ascending' | 'descending' }[] | null;
}

const QUOTED = /--[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;
const NEXT_CLAUSE = /\b(?:GROUP\s+BY|ORDER\s+BY|OFFSET)\b/i;

/** Returns the paths of an alias in a part of a query, in order. */
function pathsIn(part: string, alias: string): string[][] {
  const path = new RegExp(`(?<![\\w.])${alias}((?:\\.[A-Za-z_]\\w*)+)(?!\\w*[\\[(])`, 'g');
  const found = [...part.matchAll(path)].map(([, names = '']) => names.split('.').slice(1));
  return [...new Map(found.map((names) => [names.join('.'), names])).values()];
}

const pathOf = (field: readonly string[]) => `/${field.join('/')}`;

interface Clauses {
  where: string[][];
  order: { field: string[]; isDescending: boolean }[];
  /** Whether ORDER BY is present, even if its paths could not be parsed. */
  isOrdered: boolean;
}

function clausesOf(text: string): Clauses {
  const plain = text.replace(QUOTED, (quoted) => (quoted.startsWith('--') ? ' ' : "''"));
  const alias = sqlAlias(plain);
  const [, where = ''] = plain.split(/\bWHERE\b/i);
  const [, order = ''] = plain.split(/\bORDER\s+BY\b/i);
  const [sorted = ''] = order.split(/\bOFFSET\b/i);
  return {
    isOrdered: /\bORDER\s+BY\b/i.test(plain),
    where: pathsIn(where.split(NEXT_CLAUSE)[0] ?? '', alias),
    order: sorted.split(',').flatMap((part) => {
      const [field] = pathsIn(part, alias);
      return field === undefined ? [] : [{ field, isDescending: /\bDESC\b/i.test(part) }];
    }),
  };
}

function compositeFor(order: Clauses['order'], policy: Policy): NosqlAdvice['composite'] {
  if (order.length < 2) return null;
  const wanted = order.map(({ field, isDescending }) => ({
    path: pathOf(field),
    order: isDescending ? ('descending' as const) : ('ascending' as const),
  }));
  const turned = (one: string) => (one === 'ascending' ? 'descending' : 'ascending');
  const isThere = (policy.compositeIndexes ?? []).some((index) =>
    [false, true].some(
      (isTurned) =>
        index.length === wanted.length &&
        wanted.every(({ path, order: direction }, at) => {
          const there = index[at]?.order?.toLowerCase() ?? 'ascending';
          return index[at]?.path === path && there === (isTurned ? turned(direction) : direction);
        }),
    ),
  );
  return isThere ? null : wanted;
}

/**
 * Returns the advice for a query; null: none. A query that sorts by several paths without a
 * composite index is refused, so its advice has no figures.
 */
export function nosqlAdvice(run: NosqlRun, policy: Policy): NosqlAdvice | null {
  const { where, order } = clausesOf(run.text);
  const composite = compositeFor(order, policy);
  const examined = run.metrics.get('retrievedDocumentCount') ?? 0;
  const returned = run.metrics.get('outputDocumentCount') ?? 0;
  const missing = [...where, ...order.map(({ field }) => field)].filter(
    ([name = '', ...below]) =>
      name !== 'id' && !SYSTEM_FIELDS.has(name) && !isIncluded(policy, [name, ...below]),
  );
  const include = isWasteful(examined, returned)
    ? [...new Set(missing.map((field) => `${pathOf(field)}/?`))]
    : [];
  if (composite !== null) {
    const words = composite.map((one) => `${one.path} ${one.order}`).join(', ');
    const sentence = `Sorting by several paths needs a composite index. Suggested index: ${words}.`;
    return { sentence, include, composite };
  }
  if (include.length === 0) return null;
  const sentence = `${walked(examined, returned)}. Suggested paths to include: ${include.join(', ')}.`;
  return { sentence, include, composite: null };
}
