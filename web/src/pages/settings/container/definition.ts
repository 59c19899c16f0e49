// A container's definition, its edits, and the differences of two definitions. Pure.
import type { DefaultTtl } from '../../../api/admin';
import type { ContainerRecord, OfferRecord } from '../../../api/nosql';
import { inWords } from '../../../pure/time/duration';
import { defaultInWords, readDraft, type TtlDraft } from '../../../pure/ttl/input';
import {
  readThroughput,
  type ThroughputDraft,
  throughputInWords,
  throughputOf,
} from '../throughput/throughput';
import { indexesNothing, readPolicy } from './policy';

export const MOST_MINUTES = 10_080;

export interface FeedDraft {
  on: boolean;
  text: string;
}

/** The version that is being edited. */
export interface Base {
  record: ContainerRecord;
  offer: OfferRecord | null;
}

/** The user's edits; absent fields are unchanged. */
export interface Edits {
  ttl?: TtlDraft;
  policy?: string;
  feed?: FeedDraft;
  throughput?: ThroughputDraft;
}

export const CHANGEABLE = ['ttl', 'indexing', 'throughput', 'change-feed'] as const;
export type Changeable = (typeof CHANGEABLE)[number];

export interface Judged {
  /** The definition to save, including unchanged and unknown parts. */
  record: ContainerRecord;
  recordChanged: boolean;
  /** The throughput to save; null: unchanged. */
  throughput: ThroughputDraft | null;
  changed: Changeable[];
  problems: Partial<Record<Changeable, string[]>>;
  /** The resulting default TTL; undefined: the input is invalid. */
  ttl: DefaultTtl | undefined;
}

const SYSTEM = [
  '_rid',
  '_self',
  '_etag',
  '_ts',
  '_docs',
  '_sprocs',
  '_triggers',
  '_udfs',
  '_conflicts',
];
const CONFLICT =
  'Indexing mode “none” and a time to live exclude each other: set Time to live to Off, or the ' +
  "indexing mode to “consistent”. The server would answer: “Indexing mode value cannot be 'none' " +
  "when 'defaultTtl' is specified in the collection”.";

export function ttlOf(record: ContainerRecord): DefaultTtl {
  return record.defaultTtl ?? null;
}

/** Returns the retention of deleted versions in minutes; 0: none. */
export function minutesOf(record: ContainerRecord): number {
  return record.changeFeedPolicy?.retentionDuration ?? 0;
}

export function feedOf(record: ContainerRecord): FeedDraft {
  const minutes = minutesOf(record);
  return { on: minutes > 0, text: minutes > 0 ? String(minutes) : '' };
}

export function readFeed(draft: FeedDraft): { value: number } | { error: string } {
  if (!draft.on) return { value: 0 };
  const text = draft.text.trim();
  if (text === '') return { error: 'Enter a number of minutes.' };
  if (!/^\d{1,9}$/.test(text)) return { error: 'Minutes must be a whole number.' };
  const value = Number(text);
  if (value < 1 || value > MOST_MINUTES) {
    return { error: `Minutes must be from 1 to ${MOST_MINUTES} (${inWords(MOST_MINUTES * 60)}).` };
  }
  return { value };
}

export function minutesInWords(minutes: number): string {
  if (minutes === 0) return 'Off';
  const said = inWords(minutes * 60);
  return minutes < 60 ? said : `${minutes} minutes = ${said}`;
}

/** Returns JSON with sorted keys, for comparisons. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function same(a: unknown, b: unknown): boolean {
  return canonical(a ?? null) === canonical(b ?? null);
}

function putTtl(record: ContainerRecord, value: DefaultTtl): void {
  if (value === null) delete record.defaultTtl;
  else record.defaultTtl = value;
}

function putMinutes(record: ContainerRecord, minutes: number): void {
  const { retentionDuration: _, ...others } = record.changeFeedPolicy ?? { retentionDuration: 0 };
  if (minutes > 0) record.changeFeedPolicy = { ...others, retentionDuration: minutes };
  else if (Object.keys(others).length > 0) {
    record.changeFeedPolicy = { ...others, retentionDuration: 0 };
  } else delete record.changeFeedPolicy;
}

/** Applies and validates the edits. */
export function judge(base: Base, edits: Edits): Judged {
  const record: ContainerRecord = { ...base.record };
  const problems: Judged['problems'] = {};
  const changed: Changeable[] = [];
  const ttl = edits.ttl === undefined ? { value: ttlOf(record) } : readDraft(edits.ttl);
  if ('error' in ttl) problems.ttl = [ttl.error];
  else putTtl(record, ttl.value);
  if ('error' in ttl || ttl.value !== ttlOf(base.record)) changed.push('ttl');
  if (edits.policy !== undefined) {
    const read = readPolicy(edits.policy);
    if ('problems' in read) problems.indexing = read.problems;
    else if (!same(read.policy, record.indexingPolicy)) record.indexingPolicy = read.policy;
    if ('problems' in read || record.indexingPolicy !== base.record.indexingPolicy) {
      changed.push('indexing');
    }
  }
  if (edits.feed !== undefined) {
    const read = readFeed(edits.feed);
    if ('error' in read) problems['change-feed'] = [read.error];
    else if (read.value !== minutesOf(base.record)) putMinutes(record, read.value);
    if ('error' in read || read.value !== minutesOf(base.record)) changed.push('change-feed');
  }
  const recordChanged = changed.length > 0;
  const throughput = judgeThroughput(base, edits, changed, problems);
  if (record.defaultTtl !== undefined && indexesNothing(record.indexingPolicy)) {
    problems.ttl = [...(problems.ttl ?? []), CONFLICT];
    problems.indexing = [...(problems.indexing ?? []), CONFLICT];
  }
  return {
    record,
    recordChanged,
    throughput,
    changed,
    problems,
    ttl: 'value' in ttl ? ttl.value : undefined,
  };
}

function judgeThroughput(
  base: Base,
  edits: Edits,
  changed: Changeable[],
  problems: Judged['problems'],
): ThroughputDraft | null {
  if (edits.throughput === undefined || base.offer === null) return null;
  const read = readThroughput(edits.throughput);
  if ('error' in read) problems.throughput = [read.error];
  const before = readThroughput(throughputOf(base.offer));
  if ('value' in read && 'value' in before && same(read.value, before.value)) return null;
  changed.push('throughput');
  return edits.throughput;
}

/** Returns a definition without system fields, usable to create a container. */
export function withoutSystem(record: ContainerRecord): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !SYSTEM.includes(name)));
}

/** A setting that differs between two definitions. */
export interface Difference {
  name: string;
  before: string;
  after: string;
}

const NAMES: Record<string, string> = {
  defaultTtl: 'Time to live',
  indexingPolicy: 'Indexing policy',
  partitionKey: 'Partition key',
  uniqueKeyPolicy: 'Unique keys',
  changeFeedPolicy: 'Change feed policy',
  conflictResolutionPolicy: 'Conflict resolution policy',
};

function shown(name: string, record: ContainerRecord): string {
  if (name === 'defaultTtl') return defaultInWords(ttlOf(record));
  if (name === 'changeFeedPolicy') return minutesInWords(minutesOf(record));
  const value = record[name];
  return value === undefined ? 'not set' : JSON.stringify(value, null, 1);
}

/** Returns the differences of two definitions, ignoring fields set by the server. */
export function differences(before: ContainerRecord, after: ContainerRecord): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !SYSTEM.includes(name) && !same(before[name], after[name]))
    .map((name) => ({
      name: NAMES[name] ?? name,
      before: shown(name, before),
      after: shown(name, after),
    }));
}

export function offerDifferences(
  before: OfferRecord | null,
  after: OfferRecord | null,
): Difference[] {
  const [was, is] = [before, after].map((offer) =>
    offer === null ? 'none' : throughputInWords(offer),
  );
  if (was === undefined || is === undefined || was === is) return [];
  return [{ name: 'Throughput', before: was, after: is }];
}
