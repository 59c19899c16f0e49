// Base of the text parsers: position, lookahead, and error reporting. Knows no grammar.

/** A syntax error and its offset in UTF-16 units. */
export interface Mistake {
  error: string;
  at: number;
}

/** Thrown to abort parsing. */
export class Wrong extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

export abstract class Reader<T> {
  protected at = 0;

  constructor(protected readonly text: string) {}

  /** Parses one value that spans the text, except for surrounding white space. */
  whole(): T {
    this.space();
    if (this.at === this.text.length) throw new Wrong('a value is missing', this.at);
    const value = this.value(1);
    this.end();
    if (this.at < this.text.length) throw new Wrong(this.trailing(), this.at);
    return value;
  }

  /** Parses a value; `depth` starts at 1. */
  protected abstract value(depth: number): T;

  /** Skips white space and comments between tokens. */
  protected abstract space(): void;

  /** Skips what may follow the last value. */
  protected end(): void {
    this.space();
  }

  protected trailing(): string {
    return `unexpected ${this.shown()} after the value`;
  }

  /** Returns the next character; empty at the end. */
  protected peek(): string {
    return this.text.charAt(this.at);
  }

  /** Returns the next character for a message. */
  protected shown(): string {
    const next = this.text.codePointAt(this.at);
    if (next === undefined) return 'the end';
    const character = String.fromCodePoint(next);
    return character === '"' ? `'"'` : JSON.stringify(character);
  }

  /** Consumes and returns a match of a sticky pattern; null: no match here. */
  protected match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  /** Consumes a character if it is next; returns whether it was. */
  protected takes(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  protected checkDepth(depth: number, deepest: number): void {
    if (depth > deepest) throw new Wrong(`nested deeper than ${deepest} levels`, this.at);
  }
}

/** Returns the result of `read`, or the syntax error that stopped it. */
export function attempt<R>(text: string, read: () => R): R | Mistake {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { error: `${error.message}.`, at: Math.min(error.at, text.length) };
  }
}
