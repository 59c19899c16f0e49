// Which index would have spared a query of MongoDB most of what it read: fields that must be equal first,
// then those of the sort, then those of ranges. Makes no index.
import { printShell } from '../shell';
import { explainedPlan, isTree, nodesOf } from './plan';
import { isWasteful, walked } from './walked';

export interface MongoAdvice {
  sentence: string;
  collection: string;
  /** Fields and directions, in their order. */
  key: Record<string, 1 | -1>;
  /** As MongoDB names such an index. */
  name: string;
  /** As the shell writes the key. */
  shown: string;
}

type Tree = Readonly<Record<string, unknown>>;

const EQUALITY = new Set(['$eq', '$in']);
const RANGE = new Set(['$gt', '$gte', '$lt', '$lte']);

interface Fields {
  equal: Set<string>;
  range: Set<string>;
}

/** false: the filter has alternatives, for which one index does nothing. */
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

/** The filter and the sort that an index can serve. */
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

/** Equality, sort, range; null: no field would help. */
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

/** Whether an index that was used has these fields already, in this order. */
function isThere(shown: string, used: readonly string[]): boolean {
  const inner = (text: string) => text.replace(/^\{ | \}$/g, '');
  const turned = (text: string) => text.replace(/: (-?)1/g, (_, minus) => (minus ? ': 1' : ': -1'));
  return used.some((keys) =>
    [inner(shown), turned(inner(shown))].some((key) => `${inner(keys)},`.startsWith(`${key},`)),
  );
}

/** The advice for an answer of explain with `executionStats`; null: there is none. */
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
  const sentence = `${walked(documentsExamined, returned)}: create ${shown}.`;
  return { sentence, collection: asked.collection, key, name, shown };
}
