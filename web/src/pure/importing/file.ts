// Reads a file for import: guesses its format, previews its start, and reads it in chunks. Asks no
// server.
import type { Api } from '../values/compare';
import { type CsvOptions, csvReader, guessCsv } from './csv';
import type { Finish } from './finish';
import { type Found, type ImportReader, refused } from './found';
import { jsonReader } from './json';

/** File format. For MongoDB, JSON is always parsed as Extended JSON. */
export type ImportForm =
  | { kind: 'json' }
  | { kind: 'lines' }
  | { kind: 'csv'; options: CsvOptions };

function isOneLine(line: string): boolean {
  return /^\s*\{.*\}\s*$/.test(line);
}

/** Guesses the format from a file's name and start. */
export function guessForm(name: string, head: string, api: Api): ImportForm {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const text = head.replace(/^\ufeff/, '').trimStart();
  if (['csv', 'tsv', 'tab'].includes(ending)) {
    return { kind: 'csv', options: guessCsv(head, api) };
  }
  if (['jsonl', 'ndjson'].includes(ending)) return { kind: 'lines' };
  if (text.startsWith('[')) return { kind: 'json' };
  if (text.startsWith('{')) {
    // Some tools export a sequence of documents that span several lines.
    const lines = text.split('\n', 3).filter((line) => line.trim() !== '');
    const whole = lines.length > 1 ? lines.slice(0, -1) : lines;
    return { kind: whole.every(isOneLine) ? 'lines' : 'json' };
  }
  return ending === 'json' ? { kind: 'json' } : { kind: 'csv', options: guessCsv(head, api) };
}

export function readerOf<T>(form: ImportForm, api: Api, finish: Finish<T>): ImportReader<T> {
  if (form.kind === 'csv') return csvReader(form.options, api, finish);
  return jsonReader(form.kind, finish);
}

/** Returns the first documents and errors of a file; a truncated last document is omitted. */
export function preview<T>(
  form: ImportForm,
  head: string,
  isWhole: boolean,
  most: number,
  api: Api,
  finish: Finish<T>,
): Found<T>[] {
  const reader = readerOf(form, api, finish);
  const found = reader.push(head);
  return (isWhole ? [...found, ...reader.end()] : found).slice(0, most);
}

/** Bytes per chunk. */
const PART_BYTES = 64 * 1024;

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

export interface Part<T> {
  found: Found<T>[];
  /** Bytes read so far. */
  bytes: number;
}

/** Yields what a UTF-8 file holds, chunk by chunk on demand. */
export async function* readFile<T>(
  chunks: AsyncIterable<Uint8Array>,
  reader: ImportReader<T>,
): AsyncGenerator<Part<T>> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let bytes = 0;
  let line = 1;
  const unreadable = () => refused(line, 1, 'the file is not UTF-8 from about here on.');
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PART_BYTES) {
      const part = chunk.subarray(at, at + PART_BYTES);
      let text: string;
      try {
        text = decoder.decode(part, { stream: true });
      } catch {
        yield { found: [unreadable()], bytes };
        return;
      }
      bytes += part.length;
      line += linesOf(part);
      yield { found: reader.push(text), bytes };
    }
  }
  try {
    yield { found: reader.push(decoder.decode()), bytes };
  } catch {
    yield { found: [unreadable()], bytes };
    return;
  }
  yield { found: reader.end(), bytes };
}
