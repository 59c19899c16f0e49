// Splits CSV (RFC 4180), which arrives in chunks, into records: quoted fields, line ends of any
// system. Knows no types or names.
import { MOST_UNITS, type Refused, refused } from './found';

export interface CsvField {
  text: string;
  /** A quoted empty field is an empty string; an unquoted one has no value. */
  quoted: boolean;
}

export interface CsvRecord {
  kind: 'record';
  line: number;
  fields: CsvField[];
  /** The record as in the file, without its line end. */
  text: string;
  /** Start of each field. */
  places: { line: number; column: number }[];
}

type State = 'start' | 'plain' | 'quoted' | 'behind' | 'skip';

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

export class CsvSplitter {
  private state: State = 'start';
  private fields: CsvField[] = [];
  private places: { line: number; column: number }[] = [];
  private held = '';
  private size = 0;
  /** The record's text from earlier chunks, and its start in this chunk. */
  private before = '';
  private from = 0;
  private quote = { line: 1, column: 1 };
  private line = 1;
  private column = 1;
  private afterReturn = false;
  private isFirst = true;
  private fault: Refused | null = null;
  private found: (CsvRecord | Refused)[] = [];
  private readonly stop: RegExp;

  constructor(
    delimiter = ',',
    private readonly most = MOST_UNITS,
  ) {
    this.stop = new RegExp(`["\\r\\n${escaped(delimiter)}]`, 'g');
  }

  push(text: string): (CsvRecord | Refused)[] {
    this.found = [];
    const part = this.isFirst && text.startsWith('\ufeff') ? text.slice(1) : text;
    if (text !== '') this.isFirst = false;
    let at = 0;
    this.from = 0;
    while (at < part.length) {
      if (this.afterReturn) {
        this.afterReturn = false;
        if (part.charAt(at) === '\n') {
          at += 1;
          this.from = at;
          continue;
        }
      }
      at = this.state === 'quoted' ? this.inQuotes(part, at) : this.outside(part, at);
    }
    // Above the limit the record is refused, so its text is not needed.
    if (this.before.length <= this.most) this.before += part.slice(this.from);
    return this.found;
  }

  end(): (CsvRecord | Refused)[] {
    this.found = [];
    if (this.state === 'quoted') {
      const { line, column } = this.quote;
      const why = 'the quote that opens here is not closed.';
      this.found.push({ ...refused(line, column, why), ...this.textOf(this.before) });
    } else if (this.places.length > 0 || this.state !== 'start') {
      this.endRecord(this.before);
    }
    return this.found;
  }

  private take(text: string): void {
    this.size += text.length;
    if (this.size <= this.most) this.held += text;
    else if (this.fault === null) {
      const { line, column } = this.places[0] ?? { line: this.line, column: this.column };
      this.fault = refused(line, column, `more than ${this.most} characters in one row.`);
      this.fields = [];
    }
  }

  private inQuotes(part: string, at: number): number {
    const next = part.indexOf('"', at);
    const end = next < 0 ? part.length : next;
    const text = part.slice(at, end);
    this.take(text);
    const last = text.lastIndexOf('\n');
    if (last < 0) this.column += text.length;
    else {
      this.line += text.split('\n').length - 1;
      this.column = text.length - last;
    }
    if (next < 0) return end;
    this.state = 'behind';
    this.column += 1;
    return end + 1;
  }

  private outside(part: string, at: number): number {
    this.stop.lastIndex = at;
    const next = this.stop.exec(part)?.index ?? part.length;
    if (next > at) {
      this.plain(part.slice(at, next));
      return next;
    }
    const unit = part.charAt(at);
    if (unit === '\r' || unit === '\n') {
      this.endLine(unit, this.before + part.slice(this.from, at));
      this.from = at + 1;
    } else if (unit === '"') this.mark();
    else this.delimit();
    return at + 1;
  }

  private begin(): void {
    this.places.push({ line: this.line, column: this.column });
  }

  private plain(text: string): void {
    if (this.state === 'start') {
      this.begin();
      this.state = 'plain';
    }
    if (this.state === 'plain') this.take(text);
    if (this.state === 'behind') this.refuse('unexpected text after a closing quote.');
    this.column += text.length;
  }

  private refuse(why: string): void {
    this.fault ??= refused(this.line, this.column, why);
    this.state = 'skip';
  }

  private mark(): void {
    if (this.state === 'start') {
      this.begin();
      this.quote = { line: this.line, column: this.column };
      this.state = 'quoted';
    } else if (this.state === 'behind') {
      this.take('"');
      this.state = 'quoted';
    } else if (this.state === 'plain') {
      this.refuse('unexpected quote in an unquoted field.');
    }
    this.column += 1;
  }

  private endField(): void {
    if (this.state === 'start') this.begin();
    if (this.fault === null) this.fields.push({ text: this.held, quoted: this.state === 'behind' });
    this.held = '';
    this.state = 'start';
  }

  private delimit(): void {
    if (this.state !== 'skip') this.endField();
    this.column += 1;
  }

  private endLine(unit: string, text: string): void {
    this.endRecord(text);
    this.afterReturn = unit === '\r';
    this.line += 1;
    this.column = 1;
  }

  private textOf(text: string): { text?: string } {
    return text.length > this.most ? {} : { text };
  }

  private endRecord(text: string): void {
    const isBlank = this.state === 'start' && this.places.length === 0;
    if (this.state !== 'skip') this.endField();
    const { fields, places } = this;
    if (this.fault !== null) this.found.push({ ...this.fault, ...this.textOf(text) });
    else if (!isBlank)
      this.found.push({ kind: 'record', line: places[0]?.line ?? 1, text, fields, places });
    this.state = 'start';
    this.fields = [];
    this.places = [];
    this.held = '';
    this.before = '';
    this.size = 0;
    this.fault = null;
  }
}

/** Guesses the delimiter from the first line. */
export function guessDelimiter(head: string): string {
  const [line = ''] = head.replace(/"(?:[^"]|"")*"/g, '').split(/[\r\n]/);
  const counts = [',', ';', '\t', '|'].map((unit) => ({ unit, n: line.split(unit).length }));
  return counts.reduce((best, next) => (next.n > best.n ? next : best)).unit;
}
