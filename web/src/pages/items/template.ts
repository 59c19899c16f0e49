// The initial text of a new item, and the part to be typed over. Pure.
import { entryOf, type JsonNode, readJson } from '../../pure/json/tree';
import { partsOf } from './keyPath';

export interface Template {
  text: string;
  /** The initial selection; empty: the cursor position. */
  from: number;
  to: number;
}

type Fields = { [name: string]: Fields | string };

function fieldOf(within: Fields, name: string): Fields | string | undefined {
  return Object.hasOwn(within, name) ? within[name] : undefined;
}

/** Without a prototype, so that `__proto__` is an ordinary name. */
const noFields = () => Object.create(null) as Fields;

/** Puts an empty string at a path, unless a scalar is in the way. */
function place(fields: Fields, parts: readonly string[]): void {
  let within = fields;
  for (const name of parts.slice(0, -1)) {
    const known = fieldOf(within, name);
    if (typeof known === 'string') return;
    const next = known ?? noFields();
    within[name] = next;
    within = next;
  }
  const last = parts.at(-1);
  if (last !== undefined && fieldOf(within, last) === undefined) within[last] = '';
}

/** Returns the range of the string at a path, without its quotes; null: none. */
function textAt(root: JsonNode, parts: readonly string[]): { from: number; to: number } | null {
  let node: JsonNode | undefined = root;
  for (const name of parts) {
    node = entryOf(node, name)?.value;
    if (node === undefined) return null;
  }
  return node.kind === 'plain' ? { from: node.at + 1, to: node.at + node.text.length - 1 } : null;
}

/**
 * Returns an item with a generated id and all partition key paths, the first of which is selected;
 * if the id is the key, the id.
 */
export function itemTemplate(paths: readonly string[], id: string): Template {
  const fields = Object.assign(noFields(), { id });
  const keys = paths.map(partsOf);
  for (const parts of keys) place(fields, parts);
  const text = JSON.stringify(fields, null, 2);
  const read = readJson(text);
  const wanted = keys.find(([first]) => first !== 'id') ?? ['id'];
  const found = 'root' in read ? textAt(read.root, wanted) : null;
  return { text, ...(found ?? { from: 0, to: 0 }) };
}

/** Returns an empty document with the cursor on its empty line. */
export function documentTemplate(): Template {
  const text = '{\n  \n}';
  return { text, from: 4, to: 4 };
}
