// Builds documents from CSV records: a column is a field path with a selectable type. Does not
// split text.
import type { JsonEntry, JsonNode } from '../json/tree';
import { attempt } from '../reader';
import type { Api } from '../values/compare';
import { partsOfPath } from '../values/path';
import { type CsvField, type CsvRecord, CsvSplitter, guessDelimiter } from './csvRecords';
import { type CsvType, cellOf, guessType } from './csvTypes';
import type { Finish } from './finish';
import { unguarded } from './formulas';
import { type Found, type ImportReader, type Refused, refused } from './found';

export interface CsvColumn {
  /** Path of the field; empty: the column is skipped. */
  path: string;
  type: CsvType;
}

export interface CsvOptions {
  delimiter: string;
  /** The first row holds names. */
  hasHeader: boolean;
  columns: readonly CsvColumn[];
  /** The value of an empty unquoted field. */
  empty: 'null' | 'absent';
  /** Removes the apostrophes that an export put in front of formulas. */
  unguard: boolean;
}

type Branch = Map<string, Branch | number>;

/** Returns the tree of target fields, or an error message if two columns conflict. */
function branchesOf(columns: readonly CsvColumn[]): Branch | string {
  const root: Branch = new Map();
  for (const [at, { path }] of columns.entries()) {
    if (path === '') continue;
    let branch = root;
    const parts = partsOfPath(path);
    for (const part of parts.slice(0, -1)) {
      const below = branch.get(part) ?? new Map<string, Branch | number>();
      if (typeof below === 'number') return `the column ${path} is part of another column's field.`;
      branch.set(part, below);
      branch = below;
    }
    const last = parts.at(-1) ?? '';
    if (branch.has(last)) return `two columns are called ${path}, or one is part of the other.`;
    branch.set(last, at);
  }
  return root.size === 0 ? 'no column is chosen.' : root;
}

class CsvReader<T> implements ImportReader<T> {
  private readonly splitter: CsvSplitter;
  private readonly branches: Branch | string;
  private header: boolean;
  private isStopped = false;

  constructor(
    private readonly options: CsvOptions,
    private readonly api: Api,
    private readonly finish: Finish<T>,
    most?: number,
  ) {
    this.splitter = new CsvSplitter(options.delimiter, most);
    this.branches = branchesOf(options.columns);
    this.header = options.hasHeader;
  }

  push(text: string): Found<T>[] {
    return this.read(this.splitter.push(text));
  }

  end(): Found<T>[] {
    return this.read(this.splitter.end());
  }

  private read(records: (CsvRecord | Refused)[]): Found<T>[] {
    const { branches } = this;
    if (typeof branches === 'string') {
      if (this.isStopped || records.length === 0) return [];
      this.isStopped = true;
      return [refused(1, 1, branches)];
    }
    const found: Found<T>[] = [];
    for (const record of records) {
      if (this.header) this.header = false;
      else found.push(record.kind === 'refused' ? record : this.document(record, branches));
    }
    return found;
  }

  private document(record: CsvRecord, branches: Branch): Found<T> {
    const { fields, places, line } = record;
    const wanted = this.options.columns.length;
    if (fields.length !== wanted) {
      const place = places[Math.min(wanted, places.length - 1)] ?? { line, column: 1 };
      return refused(place.line, place.column, `${fields.length} fields, not ${wanted}.`);
    }
    const node = this.object(record, branches);
    if ('kind' in node && node.kind === 'refused') return node;
    const done = attempt('', () => ({ value: this.finish(node as JsonNode) }));
    if ('value' in done) return { kind: 'document', line, value: done.value };
    return refused(line, 1, done.error);
  }

  private object(record: CsvRecord, branch: Branch): JsonNode | Refused {
    const entries: JsonEntry[] = [];
    for (const [key, below] of branch) {
      const value =
        typeof below === 'number' ? this.cell(record, below) : this.object(record, below);
      if (value === null) continue;
      if (value.kind === 'refused') return value;
      const isEmpty = value.kind === 'object' && value.entries.length === 0;
      if (isEmpty && typeof below !== 'number') continue;
      entries.push({ key, keyText: JSON.stringify(key), at: 0, value });
    }
    return { kind: 'object', at: 0, entries };
  }

  private cell(record: CsvRecord, at: number): JsonNode | Refused | null {
    const field = record.fields[at] as CsvField;
    const type = this.options.columns[at]?.type ?? 'text';
    if (field.text === '' && !field.quoted && this.options.empty === 'absent') return null;
    const isGuarded = this.options.unguard && type === 'text';
    const text = isGuarded ? unguarded(field.text) : field.text;
    const cell = cellOf({ text, quoted: field.quoted }, type, this.api);
    if ('node' in cell) return cell.node;
    const { line, column } = record.places[at] ?? { line: record.line, column: 1 };
    const name = this.options.columns[at]?.path ?? '';
    return { ...refused(line, column, cell.why), field: name };
  }
}

export function csvReader<T>(
  options: CsvOptions,
  api: Api,
  finish: Finish<T>,
  most?: number,
): ImportReader<T> {
  return new CsvReader(options, api, finish, most);
}

const GUESSED_FROM = 200;

/** Guesses the options from the start of a file; the user can change them before the import. */
export function guessCsv(head: string, api: Api, delimiter = guessDelimiter(head)): CsvOptions {
  const records = new CsvSplitter(delimiter)
    .push(head)
    .filter((record) => record.kind === 'record')
    .slice(0, GUESSED_FROM + 1);
  const [names, ...rows] = records;
  const columns = (names?.fields ?? []).map(({ text, quoted }, at): CsvColumn => {
    const type = guessType(
      rows.map(({ fields }) => fields[at]),
      api,
      delimiter,
    );
    return { path: quoted ? text : text.trim(), type };
  });
  return { delimiter, hasHeader: true, columns, empty: 'null', unguard: true };
}
