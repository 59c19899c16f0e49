// Validates form input and converts it to the APIs' formats: paths, TTL, container definition.
// Pure; the server validates again.
import { readDraft, type TtlDraft } from '../../pure/ttl/input';

export type FormField = 'name' | 'database' | 'key' | 'unique' | 'seconds' | 'throughput';

/** A validation error of one field. */
export class FormError extends Error {
  constructor(
    readonly field: FormField,
    message: string,
  ) {
    super(message);
  }
}

/** Validation errors of several fields, reported together. */
export class FormErrors extends Error {
  constructor(readonly all: readonly FormError[]) {
    super(all.map(({ message }) => message).join(' '));
  }
}

/** Returns the validation errors in a thrown value; null if it is another error. */
export function wrongFields(error: unknown): readonly FormError[] | null {
  if (error instanceof FormErrors) return error.all;
  return error instanceof FormError ? [error] : null;
}

/** Reads all parts of a form and collects the errors of all. */
export function readAll<T>(parts: { [K in keyof T]: () => T[K] }): T {
  const found: Partial<T> = {};
  const wrong: FormError[] = [];
  for (const name of Object.keys(parts) as (keyof T)[]) {
    try {
      found[name] = parts[name]();
    } catch (error) {
      const fields = wrongFields(error);
      if (fields === null) throw error;
      wrong.push(...fields);
    }
  }
  if (wrong.length > 0) throw new FormErrors(wrong);
  return found as T;
}

const MOST_ID_CHARACTERS = 255;

/** Validates an id of the NoSQL API: it must not contain characters that end a URL segment. */
export function readId(field: 'name' | 'database', what: string, text: string): string {
  if (text === '') throw new FormError(field, `Enter the ${what}.`);
  if ([...text].length > MOST_ID_CHARACTERS)
    throw new FormError(field, `Enter at most ${MOST_ID_CHARACTERS} characters.`);
  if (/[/\\?#\0\r\n]/.test(text)) throw new FormError(field, 'A name cannot contain / \\ ? or #.');
  if (text.endsWith(' ')) throw new FormError(field, 'A name cannot end with a space.');
  return text;
}

const MOST_DATABASE_BYTES = 63;

/** Validates a MongoDB database name. */
export function readMongoDatabase(text: string): string {
  if (text === '') throw new FormError('database', 'Enter a database name.');
  if (/[/\\. "$\0]/.test(text))
    throw new FormError('database', 'A name cannot contain spaces or / \\ . " $.');
  if (new TextEncoder().encode(text).length > MOST_DATABASE_BYTES)
    throw new FormError('database', `Enter at most ${MOST_DATABASE_BYTES} bytes.`);
  return text;
}

/** Validates a MongoDB collection name. */
export function readCollection(text: string): string {
  if (text === '') throw new FormError('name', 'Enter a collection name.');
  if (text.startsWith('.')) throw new FormError('name', 'A name cannot begin with a dot.');
  if (/[$\0]/.test(text)) throw new FormError('name', 'A name cannot contain $.');
  return text;
}

/** Returns the default TTL: undefined is off, -1 is on without a default. */
export function readTtl(draft: TtlDraft): number | undefined {
  const read = readDraft(draft);
  if ('error' in read) throw new FormError('seconds', read.error);
  return read.value ?? undefined;
}

/** Returns the throughput; undefined if empty. */
export function readThroughput(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) {
    throw new FormError('throughput', 'Enter a whole number of request units per second.');
  }
  return value;
}

/** Parses "/a, /b/c"; a leading slash is optional. */
export function readPaths(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('/') ? part : `/${part}`));
}

/** Returns paths with omitted leading slashes added, like "/a, /b"; null: none omitted. */
export function completedPaths(text: string): string | null {
  const isWhole = text.split(',').every((part) => /^\s*(\/|$)/.test(part));
  return isWhole ? null : readPaths(text).join(', ');
}

function readKey(text: string): string[] {
  const paths = readPaths(text);
  if (paths.length === 0) throw new FormError('key', 'Enter the path of the partition key.');
  return paths;
}

export interface ContainerForm {
  name: string;
  key: string;
  ttl: TtlDraft;
  /** One unique key per line, as comma-separated paths. */
  unique: string;
}

/** Returns the container definition for the NoSQL API. */
export function containerOf(form: ContainerForm): Record<string, unknown> {
  const { id, paths, defaultTtl } = readAll({
    id: () => readId('name', 'id of the container', form.name),
    paths: () => readKey(form.key),
    defaultTtl: () => readTtl(form.ttl),
  });
  const uniqueKeys = form.unique
    .split('\n')
    .map(readPaths)
    .filter((key) => key.length > 0)
    .map((key) => ({ paths: key }));
  return {
    id,
    partitionKey: { paths, kind: paths.length > 1 ? 'MultiHash' : 'Hash', version: 2 },
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
    ...(uniqueKeys.length === 0 ? {} : { uniqueKeyPolicy: { uniqueKeys } }),
  };
}
