// Writes documents one by one as the text of a file: its beginning, each document, its end, so that a
// file of any length is never held. Asks no server and saves nothing.

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

/** One array. */
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

/** JSON Lines. */
export function linesExporter<T>(write: (document: T) => string): Exporter<T> {
  return { begin: () => '', document: (document) => `${write(document)}\n`, end: () => '' };
}

export interface CsvExport {
  /** Paths of the fields, in their order. */
  paths: readonly string[];
  delimiter: string;
  /** Texts that a spreadsheet would run as formulas get an apostrophe before them. */
  guard: boolean;
}

/** Values of a document for CSV, in the order of the paths. */
export type CellsOf<T> = (document: T, paths: readonly string[][], guard: boolean) => string[];

export const cellsOfDocument: CellsOf<Document> = (document, paths, guard) =>
  paths.map((parts) => cellOfValue(valueAtPath(document, parts), guard));

export const cellsOfItem: CellsOf<ItemText> = (text, paths, guard) => {
  const read = readJson(text);
  if ('error' in read) throw new Error(`The server's answer is no JSON: ${read.error}`);
  return paths.map((parts) => cellOfNode(nodeAtPath(read.root, parts), guard));
};

const NAME = /^[\w.][\w .-]*$/;

/** CSV by RFC 4180, with the names of the columns first. */
export function csvExporter<T>(options: CsvExport, cells: CellsOf<T>): Exporter<T> {
  const { paths, delimiter, guard } = options;
  const parts = paths.map(partsOfPath);
  const row = (fields: readonly string[]) => `${fields.join(delimiter)}\r\n`;
  const names = paths.map((path) => (NAME.test(path) ? path : quoted(path)));
  return {
    begin: () => row(names),
    document: (document) => {
      const fields = cells(document, parts, guard);
      // A row of one empty field would be an empty line, which is none.
      return fields.length === 1 && fields[0] === '' ? row([quoted('')]) : row(fields);
    },
    end: () => '',
  };
}

/**
 * The columns of CSV that hold all that documents hold: the parts of fields that are always objects, and
 * other fields whole. What the server sets is left out, since it cannot be written again.
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
