// Writes documents one by one to a file's text (start, documents, end), so that a file of any
// length needs bounded memory. Does no I/O.

import { type Column, EXPIRES } from '../columns/columns';
import type { Document, ItemText } from '../importing/found';
import { readJson } from '../json/tree';
import { partsOfPath, valueAtPath } from '../values/path';
import { cellOfNode, cellOfValue, nodeAtPath, quoted } from './cells';

export interface Exporter<T> {
  begin(): string;
  document(document: T): string;
  end(): string;
}

/** Writes one JSON array. */
export function arrayExporter<T>(write: (document: T) => string): Exporter<T> {
  let isFirst = true;
  return {
    begin: () => '[',
    document: (document) => {
      const before = isFirst ? '\n' : ',\n';
      isFirst = false;
      return before + write(document);
    },
    end: () => (isFirst ? ']\n' : '\n]\n'),
  };
}

/** Writes JSON Lines, one document each. */
export function linesExporter<T>(write: (document: T) => string): Exporter<T> {
  return { begin: () => '', document: (document) => `${write(document)}\n`, end: () => '' };
}

export interface CsvExport {
  /** Field paths, in column order. */
  paths: readonly string[];
  delimiter: string;
  /** Prefixes an apostrophe to texts that a spreadsheet would execute as formulas. */
  guard: boolean;
}

/** Returns the CSV fields of a document in the order of the paths. */
export type CellsOf<T> = (document: T, paths: readonly string[][], guard: boolean) => string[];

export const cellsOfDocument: CellsOf<Document> = (document, paths, guard) =>
  paths.map((parts) => cellOfValue(valueAtPath(document, parts), guard));

export const cellsOfItem: CellsOf<ItemText> = (text, paths, guard) => {
  const read = readJson(text);
  if ('error' in read) throw new Error(`The server's response is not JSON: ${read.error}`);
  return paths.map((parts) => cellOfNode(nodeAtPath(read.root, parts), guard));
};

const NAME = /^[\w.][\w .-]*$/;

/** Writes CSV (RFC 4180) with a header row. */
export function csvExporter<T>(options: CsvExport, cells: CellsOf<T>): Exporter<T> {
  const { paths, delimiter, guard } = options;
  const parts = paths.map(partsOfPath);
  const row = (fields: readonly string[]) => `${fields.join(delimiter)}\r\n`;
  const names = paths.map((path) => (NAME.test(path) ? path : quoted(path)));
  return {
    begin: () => row(names),
    document: (document) => {
      const fields = cells(document, parts, guard);
      // A row with one empty field would be an empty line, which readers skip.
      return fields.length === 1 && fields[0] === '' ? row([quoted('')]) : row(fields);
    },
    end: () => '',
  };
}

/**
 * Returns the CSV columns that cover all data: the subfields of fields that are always objects, and
 * other fields whole. Fields set by the server are omitted, since they cannot be written back.
 */
export function csvPaths(columns: readonly Column[]): string[] {
  const isSplit = ({ hasParts, kinds }: Column) =>
    hasParts && [...kinds.keys()].every((kind) => kind === 'object');
  const whole = columns.filter(
    (column) => column.share > 0 && !column.isSystem && !isSplit(column),
  );
  const paths = new Set(whole.map(({ id }) => id));
  const isBelow = (id: string) => {
    const parts = id.split(/(?<!\\)\./);
    return parts.some((_, at) => at > 0 && paths.has(parts.slice(0, at).join('.')));
  };
  return whole.filter(({ id }) => id !== EXPIRES && !isBelow(id)).map(({ id }) => id);
}
