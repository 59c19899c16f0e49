// Accessors of results, common to both APIs: on one line, by parts and paths, and as file text.
// Pure.
import type { Document } from '../../../api/mongo';
import { type Column, columnsOf, EXPIRES } from '../../../pure/columns/columns';
import { cellOfNode, cellOfValue, nodeAtPath } from '../../../pure/exporting/cells';
import {
  arrayExporter,
  csvExporter,
  csvPaths,
  type Exporter,
  linesExporter,
} from '../../../pure/exporting/exporter';
import { relaxedText } from '../../../pure/exporting/extended';
import { type JsonNode, printCompact } from '../../../pure/json/tree';
import { printShell } from '../../../pure/shell';
import { bareKind, bareText } from '../../../pure/values/bare';
import { isPlainObject, type Kind, kindOf } from '../../../pure/values/kind';
import { valueAtPath } from '../../../pure/values/path';

/** A BSON value, or JSON with its original text. */
export type Value = unknown;

export interface Form {
  language: 'json' | 'shell';
  kind(value: Value): Kind;
  /** One line; strings quoted, dates and numbers without type. */
  line(value: Value): string;
  /** The type that the line omits; null: none. */
  hidden(value: Value): Kind | null;
  /** Strings unquoted; dates and numbers without type; others as their line. */
  cell(value: Value): string;
  /** Entries of an object or array; null: a scalar. */
  parts(value: Value): [name: string, value: Value][] | null;
  /** undefined: absent. */
  at(value: Value, path: readonly string[]): Value | undefined;
  /** Wraps a result that is not an object in one. */
  wrapped(value: Value): Value;
  json(value: Value): string;
  /** A CSV field; formulas are guarded by an apostrophe. */
  csvCell(value: Value, path: readonly string[]): string;
}

export interface Results {
  form: Form;
  rows: readonly Value[];
  /** Rows for computing columns; numbers may be rounded. */
  plain: readonly unknown[];
  /** Keys of the rows' items for URLs; null: no item is known. */
  keys: readonly (string | null)[];
}

/** Column of results that are not objects. */
export const WHOLE = 'value';

export const MONGO_FORM: Form = {
  language: 'shell',
  kind: kindOf,
  line: (value) => (kindOf(value) === 'string' ? printShell(value, 0) : bareText(value)),
  hidden: bareKind,
  cell: bareText,
  parts: (value) => {
    if (Array.isArray(value)) return value.map((one, at) => [String(at), one as Value]);
    return isPlainObject(value) ? Object.entries(value) : null;
  },
  at: valueAtPath,
  wrapped: (value) => (isPlainObject(value) ? value : { [WHOLE]: value }),
  json: relaxedText,
  csvCell: (value, path) => cellOfValue(valueAtPath(value, path), true),
};

const node = (value: Value) => value as JsonNode;

function textOf(value: JsonNode): string | null {
  return value.kind === 'plain' && value.text.startsWith('"')
    ? (JSON.parse(value.text) as string)
    : null;
}

export const NOSQL_FORM: Form = {
  language: 'json',
  kind: (value) => {
    const of = node(value);
    return of.kind === 'plain' ? kindOf(JSON.parse(of.text)) : of.kind;
  },
  line: (value) => printCompact(node(value)),
  hidden: () => null,
  cell: (value) => textOf(node(value)) ?? printCompact(node(value)),
  parts: (value) => {
    const of = node(value);
    if (of.kind === 'object') return of.entries.map((entry) => [entry.key, entry.value]);
    return of.kind === 'array' ? of.elements.map((one, at) => [String(at), one]) : null;
  },
  at: (value, path) => nodeAtPath(node(value), path) ?? undefined,
  wrapped: (value) => {
    const of = node(value);
    if (of.kind === 'object') return of;
    const entry = { key: WHOLE, keyText: JSON.stringify(WHOLE), at: of.at, value: of };
    return { kind: 'object', at: of.at, entries: [entry] } satisfies JsonNode;
  },
  json: (value) => printCompact(node(value)),
  csvCell: (value, path) => cellOfNode(nodeAtPath(node(value), path), true),
};

/** Concatenates pages. */
export function joined(all: readonly Results[]): Results | null {
  const [first] = all;
  if (first === undefined) return null;
  return {
    form: first.form,
    rows: all.flatMap(({ rows }) => rows),
    plain: all.flatMap(({ plain }) => plain),
    keys: all.flatMap(({ keys }) => keys),
  };
}

/** Returns the columns of results, most frequent first. */
export function columnsFor({ form, plain }: Results): Column[] {
  const objects = plain.map((one) => (isPlainObject(one) ? one : { [WHOLE]: one }));
  // Fields set by the server are separated only for whole items.
  const isWhole = form.language === 'json' && objects.some((one) => Object.hasOwn(one, '_self'));
  return columnsOf(objects, isWhole ? 'id' : '_id').filter(
    ({ id, share }) => id !== EXPIRES && share > 0,
  );
}

/** Returns the columns for a table: objects whose subfields are columns are omitted. */
export function tableColumns(results: Results): Column[] {
  return columnsFor(results).filter(
    ({ hasParts, kinds }) => !hasParts || [...kinds.keys()].some((kind) => kind !== 'object'),
  );
}

export const FORMATS = ['JSON', 'JSON Lines', 'CSV'] as const;
export type Format = (typeof FORMATS)[number];
export const ENDINGS: Readonly<Record<Format, string>> = {
  JSON: 'json',
  'JSON Lines': 'jsonl',
  CSV: 'csv',
};

function exporterFor(results: Results, format: Format): Exporter<Value> {
  const { form } = results;
  switch (format) {
    case 'JSON':
      return arrayExporter(form.json);
    case 'JSON Lines':
      return linesExporter(form.json);
    case 'CSV': {
      const paths = csvPaths(columnsFor(results));
      return csvExporter({ paths, delimiter: ',', guard: true }, (value, parts) =>
        parts.map((path) => form.csvCell(form.wrapped(value), path)),
      );
    }
  }
}

/** Yields the chunks of a file with all results. */
export function* fileOf(results: Results, format: Format): Generator<string> {
  const exporter = exporterFor(results, format);
  yield exporter.begin();
  for (const row of results.rows) yield exporter.document(row);
  yield exporter.end();
}

const KEEP_IDS = new Set(
  `$match $sort $limit $skip $sample $project $addFields $set $unset $unwind $lookup`.split(' '),
);

/** Returns whether the `_id` of a result is that of a document of the collection. */
export function keepsIds(command: Document): boolean {
  if (command.aggregate === undefined) return true;
  const stages = command.pipeline as unknown[];
  return stages.every((stage) => {
    const [name = ''] = isPlainObject(stage) ? Object.keys(stage) : [];
    const body = isPlainObject(stage) ? stage[name] : null;
    const setsId = name !== '$match' && isPlainObject(body) && kindOf(body._id) === 'string';
    return KEEP_IDS.has(name) && !setsId;
  });
}
