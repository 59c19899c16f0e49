// A change of one field of a document: validation, result, and inverse. Pure; `mongoMany` and
// `nosqlMany` send it in their API.
import { printShell } from '../../../../pure/shell';
import type { Api } from '../../../../pure/values/compare';
import { isPlainObject, kindOf } from '../../../../pure/values/kind';
import { valueAtPath } from '../../../../pure/values/path';
import { SYSTEM_FIELDS } from '../../../../pure/values/system';

export type Path = readonly string[];

export type FieldChange =
  | { does: 'set'; path: Path; value: unknown }
  | { does: 'remove'; path: Path }
  | { does: 'rename'; path: Path; to: Path };

type Fields = Readonly<Record<string, unknown>>;

/** The new document; unchanged; or the reason why it cannot be changed. */
export type Planned = { to: Fields } | { same: true } | { error: string };

/** Facts for validating a field change. */
export interface Rules {
  api: Api;
  idField: 'id' | '_id';
  /** Paths of the partition key, `/tenant/id`. */
  keys: readonly string[];
}

const begins = (path: Path, other: Path) => path.every((name, at) => name === other[at]);

/** Whether one path equals or contains the other. */
export const isWithin = (a: Path, b: Path) => begins(a, b) || begins(b, a);

/** Returns why a path cannot be changed in any document; null: it can. */
export function whyNotPath(path: Path, { api, idField, keys }: Rules): string | null {
  const text = path.join('.');
  const [root = ''] = path;
  if (path.some((name) => name === '')) return 'A name in the path is empty.';
  if (root === idField) return `${idField} cannot be changed.`;
  if (api === 'nosql' ? SYSTEM_FIELDS.has(root) : root === '_ts')
    return `${root} is set by the server.`;
  if (keys.some((key) => isWithin(key.split('/').slice(1), path)))
    return `${text} is part of the partition key, which cannot be changed.`;
  if (root === 'ttl') return 'Use "Set ttl…" to change ttl; it shows what expires when.';
  if (api === 'mongo' && path.some((name) => name.includes('.') || name.startsWith('$')))
    return 'Fields with a dot or dollar sign in their name can only be changed in the editor of each document.';
  return null;
}

/** Returns why a field cannot be renamed; null: it can. */
export function whyNotRenamed(from: Path, to: Path, rules: Rules): string | null {
  if (isWithin(from, to)) return 'A field cannot be moved to itself, nor into or out of itself.';
  return whyNotPath(to, rules);
}

/** Returns the path up to the first absent name, or the whole path. */
export function missingPart(document: Fields, path: Path): Path {
  const found = path.findIndex(
    (_, at) => valueAtPath(document, path.slice(0, at + 1)) === undefined,
  );
  return found < 0 ? path : path.slice(0, found + 1);
}

/** Wraps a value in nested objects with these names. */
export function nested(names: Path, value: unknown): unknown {
  return names.reduceRight((inner: unknown, name) => ({ [name]: inner }), value);
}

function put(document: Fields, [name = '', ...rest]: Path, value: unknown): Fields {
  if (rest.length === 0) return { ...document, [name]: value };
  const inner = Object.hasOwn(document, name) ? document[name] : undefined;
  return { ...document, [name]: put(isPlainObject(inner) ? inner : {}, rest, value) };
}

function without(document: Fields, [name = '', ...rest]: Path): Fields {
  const { [name]: inner, ...others } = document;
  if (rest.length === 0) return others;
  return isPlainObject(inner) ? { ...document, [name]: without(inner, rest) } : document;
}

/** Returns why a field at this path cannot be created; null: it can. */
function blocked(document: Fields, path: Path): string | null {
  for (let most = 1; most < path.length; most += 1) {
    const above = path.slice(0, most);
    const value = valueAtPath(document, above);
    if (value === undefined) return null;
    const kind = kindOf(value);
    if (kind !== 'object')
      return `${above.join('.')} holds a value of type ${kind}, and only objects have fields.`;
  }
  return null;
}

/** Returns whether two values are equal and of the same type. */
export function isSame(a: unknown, b: unknown): boolean {
  return kindOf(a) === kindOf(b) && printShell(a, 0) === printShell(b, 0);
}

/** Applies a change to a document. */
export function planned(document: Fields, change: FieldChange): Planned {
  const { path } = change;
  const now = valueAtPath(document, path);
  if (change.does === 'set') {
    const why = blocked(document, path);
    if (why !== null) return { error: why };
    return isSame(now, change.value) ? { same: true } : { to: put(document, path, change.value) };
  }
  if (now === undefined) return { same: true };
  const left = without(document, path);
  if (change.does === 'remove') return { to: left };
  const why = blocked(left, change.to);
  return why === null ? { to: put(left, change.to, now) } : { error: why };
}

/** Returns the paths whose values a change replaces. */
export function touched(change: FieldChange): readonly Path[] {
  return change.does === 'rename' ? [change.path, change.to] : [change.path];
}

/** Returns the changes that restore a document's values at some paths. */
export function takingBack(before: Fields, paths: readonly Path[]): FieldChange[] {
  return paths.map((path): FieldChange => {
    const part = missingPart(before, path);
    const value = valueAtPath(before, part);
    return value === undefined ? { does: 'remove', path: part } : { does: 'set', path, value };
  });
}

/** Returns whether a number in a value may have lost digits when it was parsed as JSON. */
export function isInexact(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(isInexact);
}
