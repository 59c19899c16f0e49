// Converts the texts of the MongoDB form to a command. Pure; the server validates operators.
import type { Document } from 'bson';
import { parseShell } from '../../pure/shell';
import { checkSize, InputError } from './problem';
import { FIRST } from './tabs/address';

export const FIELDS = ['filter', 'projection', 'sort', 'limit', 'skip', 'pipeline'] as const;
export type FieldName = (typeof FIELDS)[number];
export interface MongoForm extends Record<FieldName, string> {
  mode: 'filter' | 'pipeline';
}

export const LABELS: Record<FieldName, string> = {
  filter: 'Filter',
  projection: 'Projection',
  sort: 'Sort',
  limit: 'Limit',
  skip: 'Skip',
  pipeline: 'Pipeline',
};

export const EMPTY = { ...FIRST.mongo } as unknown as MongoForm;

export const PAGE_ROWS = 100;

function fieldValue(form: MongoForm, name: FieldName): unknown {
  const text = form[name];
  checkSize(LABELS[name], text);
  const parsed = parseShell(text);
  if ('error' in parsed) throw new InputError(parsed.error, LABELS[name], text, parsed.at);
  return parsed.value;
}

function isDocument(value: unknown): value is Document {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !('_bsontype' in value) && !(value instanceof Date) && !(value instanceof RegExp);
}

/** Parses the document of a field; null if empty. */
function documentOf(form: MongoForm, name: FieldName): Document | null {
  if (form[name].trim() === '') return null;
  const value = fieldValue(form, name);
  if (isDocument(value)) return value;
  throw new InputError('Not a document: expected { field: value }.', LABELS[name], form[name], 0);
}

/** Parses the integer of a field; null if empty. */
function wholeOf(form: MongoForm, name: 'limit' | 'skip'): number | null {
  const text = form[name].trim();
  if (text === '') return null;
  if (/^\d{1,10}$/.test(text) && Number(text) <= 2_147_483_647) return Number(text);
  const message = 'Not a whole number from 0 to 2147483647.';
  throw new InputError(message, LABELS[name], form[name], null);
}

function find(collection: string, form: MongoForm): Document {
  const command: Document = { find: collection, filter: documentOf(form, 'filter') ?? {} };
  const [projection, sort] = [documentOf(form, 'projection'), documentOf(form, 'sort')];
  const [limit, skip] = [wholeOf(form, 'limit'), wholeOf(form, 'skip')];
  if (projection !== null) command.projection = projection;
  if (sort !== null) command.sort = sort;
  if (limit !== null) command.limit = limit;
  if (skip !== null) command.skip = skip;
  return command;
}

function aggregate(collection: string, form: MongoForm): Document {
  const pipeline = form.pipeline.trim() === '' ? [] : fieldValue(form, 'pipeline');
  if (Array.isArray(pipeline)) return { aggregate: collection, pipeline, cursor: {} };
  const message = 'Not an array of stages: expected [ { $match: { … } }, … ].';
  throw new InputError(message, LABELS.pipeline, form.pipeline, 0);
}

/** Returns a `find` or `aggregate` command without batch size. */
export function commandOf(collection: string, form: MongoForm): Document {
  return form.mode === 'filter' ? find(collection, form) : aggregate(collection, form);
}

/** Returns the command with the batch size of the first page. */
export function firstPage(command: Document, batchSize = PAGE_ROWS): Document {
  if (command.aggregate === undefined) return { ...command, batchSize };
  return { ...command, cursor: { batchSize } };
}

/** Returns whether the command writes, so that repeating it has effects. */
export function writes(command: Document): boolean {
  const pipeline = (command.pipeline ?? []) as unknown[];
  return pipeline.some((stage) => isDocument(stage) && ('$out' in stage || '$merge' in stage));
}
