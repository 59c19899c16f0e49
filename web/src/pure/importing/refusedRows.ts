// The rows that an import has refused, as they stand in its file, so that they can be put right and imported
// again. Rows of CSV stay CSV, with the names of its columns; all others become lines of JSON. The reasons
// are not among them: they would become fields.
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

/** A row in one line, also one that is no JSON. */
function jsonLine(one: Found<string>): string {
  return `${textOf(one).replace(/\s*[\r\n]+\s*/g, ' ')}\n`;
}

/** The parts of a file of the refused rows, in the order of the file that they come from. `refused`: which of
 * all that the file holds, from 0. */
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
