// The rows that an import has refused, as they stand in its file, each with the reason, so that they can be
// put right and imported. Rows of CSV stay CSV, with two columns before the others: also a row that has
// too few or too many fields has them there. All others become lines of JSON.
import { printCompact } from '../json/tree';
import { CsvSplitter } from './csvRecords';
import type { ImportForm } from './file';
import { readFile } from './file';
import type { Found, ImportReader } from './found';
import { jsonReader } from './json';

export interface RefusedRow {
  /** Which one it is of all that the file holds, from 0. */
  nth: number;
  /** From 1. */
  line: number;
  why: string;
}

class CsvRows implements ImportReader<string> {
  private readonly splitter: CsvSplitter;

  constructor(delimiter: string) {
    this.splitter = new CsvSplitter(delimiter);
  }

  push(text: string): Found<string>[] {
    return this.found(this.splitter.push(text));
  }

  end(): Found<string>[] {
    return this.found(this.splitter.end());
  }

  private found(records: ReturnType<CsvSplitter['push']>): Found<string>[] {
    return records.map((record) =>
      record.kind === 'refused'
        ? record
        : { kind: 'document', line: record.line, value: record.text },
    );
  }
}

const inQuotes = (text: string) => `"${text.replace(/"/g, '""')}"`;

function jsonLine({ line, why }: RefusedRow, one: Found<string>): string {
  // What is no JSON is kept as a text.
  const row = one.kind === 'document' ? one.value : JSON.stringify(one.text ?? null);
  return `{"line":${line},"reason":${JSON.stringify(why)},"row":${row}}\n`;
}

/** The parts of a file of the refused rows, in the order of the file that they come from. */
export async function* refusedRows(
  chunks: AsyncIterable<Uint8Array>,
  form: ImportForm,
  refused: readonly RefusedRow[],
): AsyncGenerator<string> {
  const wanted = new Map(refused.map((one) => [one.nth, one]));
  const isCsv = form.kind === 'csv';
  const { delimiter, hasHeader } = isCsv ? form.options : { delimiter: ',', hasHeader: false };
  const reader = isCsv ? new CsvRows(delimiter) : jsonReader(form.kind, printCompact);
  const csvRow = (
    first: string,
    second: string,
    { value, text }: { value?: string; text?: string },
  ) => `${first}${delimiter}${second}${delimiter}${value ?? text ?? ''}\r\n`;
  let nth = hasHeader ? -1 : 0;
  for await (const { found } of readFile(chunks, reader)) {
    for (const one of found) {
      const row = wanted.get(nth);
      if (nth === -1) yield csvRow('line', 'reason', one);
      else if (row !== undefined)
        yield isCsv ? csvRow(String(row.line), inQuotes(row.why), one) : jsonLine(row, one);
      nth += 1;
    }
  }
}
