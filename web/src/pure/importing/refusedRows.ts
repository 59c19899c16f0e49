// Writes the rows that an import refused as in their file, so that they can be corrected and
// imported again. CSV rows stay CSV, with the header; all others become JSON Lines. Reasons are
// omitted, since they would become fields.
import { printCompact } from '../json/tree';
import { CsvSplitter } from './csvRecords';
import type { ImportForm } from './file';
import { readFile } from './file';
import type { Found, ImportReader } from './found';
import { jsonReader } from './json';

const textOf = (one: Found<string>) => (one.kind === 'document' ? one.value : (one.text ?? ''));

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

/** Returns a row on one line, even if it is invalid JSON. */
function jsonLine(one: Found<string>): string {
  return `${textOf(one).replace(/\s*[\r\n]+\s*/g, ' ')}\n`;
}

/** Yields the refused rows in file order. `refused`: their indexes among all rows, from 0. */
export async function* refusedRows(
  chunks: AsyncIterable<Uint8Array>,
  form: ImportForm,
  refused: readonly number[],
): AsyncGenerator<string> {
  const wanted = new Set(refused);
  const isCsv = form.kind === 'csv';
  const { delimiter, hasHeader } = isCsv ? form.options : { delimiter: ',', hasHeader: false };
  const reader = isCsv ? new CsvRows(delimiter) : jsonReader(form.kind, printCompact);
  let nth = hasHeader ? -1 : 0;
  for await (const { found } of readFile(chunks, reader)) {
    for (const one of found) {
      const isWanted = nth === -1 || wanted.has(nth);
      if (isWanted) yield isCsv ? `${textOf(one)}\r\n` : jsonLine(one);
      nth += 1;
    }
  }
}
