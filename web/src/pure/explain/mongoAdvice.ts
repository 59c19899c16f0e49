// Suggests an index that would save most of what a MongoDB query read: fields with equality first,
// then those of the sort, then those with ranges. Creates no index.
import { printShell } from '../shell';
import { explainedPlan, isTree, nodesOf } from './plan';
import { isWasteful, walked } from './walked';

export interface MongoAdvice {
  sentence: string;
  collection: string;
  /** Fields and directions, in order. */
  key: Record<string, 1 | -1>;
  /** MongoDB's default name of the index. */
  name: string;
  /** The key in shell syntax. */
  shown: string;
}

type Tree = Readonly<Record<string, unknown>>;

const EQUALITY = new Set(['$eq', '$in']);
const RANGE = new Set(['$gt', '$gte', '$lt', '$lte']);

interface Fields {
  equal: Set<string>;
  range: Set<string>;
}

/** Collects the fields; false: the filter has alternatives, which one index cannot serve. */
function collect(filter: Tree, found: Fields): boolean {
  for (const [name, value] of Object.entries(filter)) {
    if (name === '$or' || name === '$nor') return false;
    if (name === '$and' && Array.isArray(value)) {
      if (!value.every((part) => !isTree(part) || collect(part, found))) return false;
      continue;
    }
    if (name.startsWith('$')) continue;
    const operators = isTree(value) ? Object.keys(value).filter((key) => key.startsWith('$')) : [];
    if (operators.length === 0 || operators.some((one) => EQUALITY.has(one))) found.equal.add(name);
    else if (operators.some((one) => RANGE.has(one))) found.range.add(name);
  }
  return true;
}

interface Asked {
  collection: string;
  filter: Tree;
  sort: Tree;
}

const tree = (value: unknown): Tree => (isTree(value) ? value : {});

/** Returns the filter and sort that an index can serve. */
function askedBy(command: Tree): Asked | null {
  const [name = ''] = Object.keys(command);
  const collection = command[name];
  if (typeof collection !== 'string') return null;
  if (name !== 'aggregate') {
    return { collection, filter: tree(command.filter ?? command.query), sort: tree(command.sort) };
  }
  const pipeline = Array.isArray(command.pipeline) ? (command.pipeline as unknown[]).map(tree) : [];
  const filter = tree(pipeline[0]?.$match);
  const next = pipeline[0]?.$match === undefined ? pipeline[0] : pipeline[1];
  return { collection, filter, sort: tree(next?.$sort) };
}

/** Returns an index key: equality, sort, range; null: no field would help. */
function keyFor({ filter, sort }: Asked): Record<string, 1 | -1> | null {
  const found: Fields = { equal: new Set(), range: new Set() };
  if (!collect(filter, found) || found.equal.has('_id')) return null;
  const key = new Map<string, 1 | -1>([...found.equal].map((name) => [name, 1]));
  for (const [name, direction] of Object.entries(sort)) {
    const isSign = Math.abs(Number(direction)) === 1;
    if (isSign && !key.has(name)) key.set(name, Number(direction) < 0 ? -1 : 1);
  }
  for (const name of found.range) if (!key.has(name)) key.set(name, 1);
  key.delete('_ts');
  if (key.size === 0 || [...key.keys()].join() === '_id') return null;
  return Object.fromEntries(key);
}

/** Whether an index that was used already starts with these fields, in this order. */
function isThere(shown: string, used: readonly string[]): boolean {
  const inner = (text: string) => text.replace(/^\{ | \}$/g, '');
  const turned = (text: string) => text.replace(/: (-?)1/g, (_, minus) => (minus ? ': 1' : ': -1'));
  return used.some((keys) =>
    [inner(shown), turned(inner(shown))].some((key) => `${inner(keys)},`.startsWith(`${key},`)),
  );
}

/** Returns the advice for an explain response with `executionStats`; null: none. */
export function mongoAdvice(answer: unknown): MongoAdvice | null {
  const asked = isTree(answer) && isTree(answer.command) ? askedBy(answer.command) : null;
  const { root, documentsExamined, returned } = explainedPlan(answer);
  if (asked === null || documentsExamined === null || returned === null) return null;
  if (!isWasteful(documentsExamined, returned)) return null;
  const key = keyFor(asked);
  if (key === null) return null;
  const shown = printShell(key, 0);
  const used = nodesOf(root).flatMap(({ keys }) => (keys === null ? [] : [keys]));
  if (isThere(shown, used)) return null;
  const name = Object.entries(key).flat().join('_');
  const sentence = `${walked(documentsExamined, returned)}. Suggested index: ${shown}.`;
  return { sentence, collection: asked.collection, key, name, shown };
}
