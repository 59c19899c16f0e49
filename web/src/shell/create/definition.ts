// What a form says, as the doors take it: paths, time to live, a container's definition. Pure; the
// server has the last word on all of it.
export type TtlChoice = 'off' | 'no-default' | 'on';

const MOST_SECONDS = 2_147_483_647;

/** What was typed cannot be sent, and why. */
export class FormError extends Error {
  constructor(
    readonly field: 'name' | 'database' | 'key' | 'unique' | 'seconds' | 'throughput',
    message: string,
  ) {
    super(message);
  }
}

/** Off is undefined, -1 is on without a default. */
export function readTtl(choice: TtlChoice, seconds: string): number | undefined {
  if (choice === 'off') return undefined;
  if (choice === 'no-default') return -1;
  const text = seconds.trim();
  const value = Number(text);
  if (text === '') throw new FormError('seconds', 'Give a number of seconds.');
  if (!/^\d+$/.test(text) || value < 1 || value > MOST_SECONDS) {
    throw new FormError('seconds', `Give a whole number from 1 to ${MOST_SECONDS}.`);
  }
  return value;
}

/** Nothing is undefined. */
export function readThroughput(text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) {
    throw new FormError('throughput', 'Give a whole number of request units per second.');
  }
  return value;
}

/** "/a, /b/c" as paths; a slash at the front may be left out. */
export function readPaths(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('/') ? part : `/${part}`));
}

export interface ContainerForm {
  name: string;
  key: string;
  ttl: TtlChoice;
  seconds: string;
  /** One unique key per line, its paths separated by commas. */
  unique: string;
}

/** The definition that the NoSQL door creates a container from. */
export function containerOf(form: ContainerForm): Record<string, unknown> {
  if (form.name === '') throw new FormError('name', 'Give the container an id.');
  const paths = readPaths(form.key);
  if (paths.length === 0) throw new FormError('key', 'Give the path of the partition key.');
  const defaultTtl = readTtl(form.ttl, form.seconds);
  const uniqueKeys = form.unique
    .split('\n')
    .map(readPaths)
    .filter((key) => key.length > 0)
    .map((key) => ({ paths: key }));
  return {
    id: form.name,
    partitionKey: { paths, kind: paths.length > 1 ? 'MultiHash' : 'Hash', version: 2 },
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
    ...(uniqueKeys.length === 0 ? {} : { uniqueKeyPolicy: { uniqueKeys } }),
  };
}
