// Export formats and their writers. No requests.
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
  /** MongoDB: canonical Extended JSON, which preserves every type. */
  canonical: boolean;
  /** NoSQL: includes fields set by the server. */
  system: boolean;
  delimiter: string;
  /** Guards formulas with an apostrophe. */
  guard: boolean;
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

/** Returns the CSV columns that cover these documents. */
export function pathsOf(documents: readonly unknown[], api: 'nosql' | 'mongo'): string[] {
  return csvPaths(columnsOf(documents, api === 'mongo' ? '_id' : 'id'));
}
