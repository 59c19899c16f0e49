// The forms of an export, and what writes each of them. Asks no server.
import { columnsOf } from '../../../pure/columns/columns';
import {
  arrayExporter,
  cellsOfDocument,
  cellsOfItem,
  csvExporter,
  csvPaths,
  type Exporter,
  linesExporter,
} from '../../../pure/exporting/exporter';
import { documentText } from '../../../pure/exporting/extended';
import { itemText } from '../../../pure/exporting/item';
import type { Document, ItemText } from '../../../pure/importing/found';

export const FORMS = ['lines', 'json', 'csv'] as const;

export interface ExportForm {
  kind: (typeof FORMS)[number];
  /** Of MongoDB: every type is named, so that it comes back exactly. */
  canonical: boolean;
  /** Of NoSQL: with what the server sets. */
  system: boolean;
  delimiter: string;
  /** Texts that a spreadsheet would run get an apostrophe. */
  guard: boolean;
  /** Paths of CSV. */
  paths: readonly string[];
}

export const ENDINGS = { lines: 'jsonl', json: 'json', csv: 'csv' } as const;
export const TYPES = {
  lines: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv',
} as const;

function exporter<T>(
  form: ExportForm,
  write: (document: T) => string,
  csv: () => Exporter<T>,
): Exporter<T> {
  if (form.kind === 'csv') return csv();
  return form.kind === 'json' ? arrayExporter(write) : linesExporter(write);
}

export function documentExporter(form: ExportForm): Exporter<Document> {
  const dialect = form.canonical ? 'canonical' : 'relaxed';
  return exporter(
    form,
    (document) => documentText(document, dialect),
    () => csvExporter(form, cellsOfDocument),
  );
}

export function itemExporter(form: ExportForm): Exporter<ItemText> {
  return exporter(
    form,
    (text) => itemText(text, form.system),
    () => csvExporter(form, cellsOfItem),
  );
}

/** The columns that hold all of these documents. */
export function pathsOf(documents: readonly unknown[], api: 'nosql' | 'mongo'): string[] {
  return csvPaths(columnsOf(documents, api === 'mongo' ? '_id' : 'id'));
}
