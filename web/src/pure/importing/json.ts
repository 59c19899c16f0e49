// Finds the documents in a JSON file that arrives in chunks: one array, a sequence, or one per
// line. Invalid documents are refused with their position, and reading continues after them.
import { readJson } from '../json/tree';
import { attempt } from '../reader';
import type { Finish } from './finish';
import { type Found, type ImportReader, MOST_UNITS, Position, refused } from './found';

export type JsonForm = 'json' | 'lines';

/** Parses a text that is one document. */
function documentOf<T>(text: string, begin: Position, finish: Finish<T>): Found<T> {
  const read = readJson(text);
  const done = 'error' in read ? read : attempt(text, () => ({ value: finish(read.root) }));
  if ('value' in done) {
    const blank = text.length - text.trimStart().length;
    return { kind: 'document', line: begin.after(text.slice(0, blank)).line, value: done.value };
  }
  const place = begin.after(text.slice(0, done.at));
  return { ...refused(place.line, place.column, done.error), text };
}

const BLANK = /^[ \t\r\n]*$/;

/** Collects the text of one document up to a size limit. */
abstract class Collector<T> implements ImportReader<T> {
  protected readonly place = new Position();
  private held = '';
  private begin = new Position();
  private tooLong = false;
  private isFirst = true;
  protected found: Found<T>[] = [];

  constructor(
    private readonly finish: Finish<T>,
    private readonly most: number,
  ) {}

  push(text: string): Found<T>[] {
    this.found = [];
    // Skips a byte order mark.
    const part = this.isFirst && text.startsWith('\ufeff') ? text.slice(1) : text;
    if (text !== '') this.isFirst = false;
    this.read(part);
    return this.found;
  }

  end(): Found<T>[] {
    this.found = [];
    this.close();
    return this.found;
  }

  protected abstract read(part: string): void;
  protected abstract close(): void;

  protected take(text: string): void {
    this.place.advance(text);
    if (this.tooLong) return;
    this.held += text;
    this.tooLong = this.held.length > this.most;
    if (this.tooLong) this.held = '';
  }

  protected isBlank(): boolean {
    return !this.tooLong && BLANK.test(this.held);
  }

  /** Skips separators between documents. */
  protected skip(text: string): void {
    this.place.advance(text);
    this.restart();
  }

  private restart(): void {
    this.held = '';
    this.tooLong = false;
    this.begin = this.place.after('');
  }

  /** Parses the collected text unless it is blank. */
  protected finishOne(): void {
    const { line, column } = this.begin;
    if (this.tooLong) {
      this.found.push(refused(line, column, `more than ${this.most} characters in one document.`));
    } else if (!this.isBlank()) {
      this.found.push(documentOf(this.held, this.begin, this.finish));
    }
    this.restart();
  }

  protected refuseHere(why: string): void {
    this.found.push(refused(this.place.line, this.place.column, why));
  }
}

/** JSON Lines: a line end always ends the document. */
class LineReader<T> extends Collector<T> {
  protected read(part: string): void {
    let at = 0;
    for (let end = part.indexOf('\n'); end >= 0; end = part.indexOf('\n', at)) {
      this.take(part.slice(at, end));
      this.finishOne();
      this.skip('\n');
      at = end + 1;
    }
    this.take(part.slice(at));
  }

  protected close(): void {
    this.finishOne();
  }
}

const NEXT = /["{}[\],]/g;
const IN_TEXT = /["\\]/g;

/** An array, or a sequence of values whose ends are found by counting brackets. */
class ValueReader<T> extends Collector<T> {
  private depth = 0;
  private inText = false;
  private escaped = false;
  private array: 'unknown' | 'none' | 'open' | 'closed' = 'unknown';
  private elements = 0;

  protected read(part: string): void {
    let at = this.begun(part);
    while (at < part.length) {
      if (this.escaped) {
        this.take(part.charAt(at));
        this.escaped = false;
        at += 1;
        continue;
      }
      const pattern = this.inText ? IN_TEXT : NEXT;
      pattern.lastIndex = at;
      const next = pattern.exec(part)?.index ?? part.length;
      this.take(part.slice(at, next));
      if (next < part.length) this.mark(part.charAt(next));
      at = next + 1;
    }
  }

  /** Looks for an opening bracket of an array before the first value. */
  private begun(part: string): number {
    if (this.array !== 'unknown') return 0;
    const first = part.search(/[^ \t\r\n]/);
    if (first < 0) {
      this.skip(part);
      return part.length;
    }
    this.skip(part.slice(0, first));
    this.array = part.charAt(first) === '[' ? 'open' : 'none';
    if (this.array === 'none') return first;
    this.skip('[');
    return first + 1;
  }

  private mark(unit: string): void {
    if (this.inText) {
      this.take(unit);
      if (unit === '"') this.inText = false;
      else this.escaped = true;
    } else if (this.depth === 0 && this.array === 'open' && (unit === ',' || unit === ']')) {
      this.element(unit);
    } else {
      this.take(unit);
      if (unit === '"') this.inText = true;
      else if (unit === '{' || unit === '[') this.depth += 1;
      else if (unit !== ',' && this.depth > 0) {
        this.depth -= 1;
        if (this.depth === 0 && this.array === 'none') this.finishOne();
      }
    }
  }

  private element(unit: string): void {
    const isEmpty = unit === ']' && this.elements === 0 && this.isBlank();
    if (this.isBlank() && !isEmpty) this.refuseHere('a document is missing here.');
    this.finishOne();
    this.elements += 1;
    if (unit === ']') this.array = 'closed';
    this.skip(unit);
  }

  protected close(): void {
    if (this.array === 'closed') {
      if (!this.isBlank()) this.refuseHere('unexpected text after the end of the array.');
      return;
    }
    this.finishOne();
    if (this.array === 'open') this.refuseHere('the array is not closed: the file may be cut off.');
  }
}

export function jsonReader<T>(
  form: JsonForm,
  finish: Finish<T>,
  most = MOST_UNITS,
): ImportReader<T> {
  return form === 'lines' ? new LineReader(finish, most) : new ValueReader(finish, most);
}
