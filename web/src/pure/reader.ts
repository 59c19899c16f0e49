// What readers of texts share: a place in the text, what stands there, and how a mistake is reported.
// Knows no grammar.

/** What is wrong with a text, and where: counted in UTF-16 units. */
export interface Mistake {
  error: string;
  at: number;
}

/** Ends the reading of a text. */
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

  /** Reads one value that is the whole text, with nothing but white space around it. */
  whole(): T {
    this.space();
    if (this.at === this.text.length) throw new Wrong('a value is missing', this.at);
    const value = this.value(1);
    this.end();
    if (this.at < this.text.length) throw new Wrong(this.trailing(), this.at);
    return value;
  }

  /** Reads a value; `depth` counts from 1. */
  protected abstract value(depth: number): T;

  /** Goes past what may stand between any two tokens. */
  protected abstract space(): void;

  /** Goes past what may stand after the last value. */
  protected end(): void {
    this.space();
  }

  protected trailing(): string {
    return `nothing may follow the value, but ${this.shown()} does`;
  }

  /** The next character; empty at the end. */
  protected peek(): string {
    return this.text.charAt(this.at);
  }

  /** The next character as a message shows it. */
  protected shown(): string {
    const next = this.text.codePointAt(this.at);
    if (next === undefined) return 'the end';
    const character = String.fromCodePoint(next);
    return character === '"' ? `'"'` : JSON.stringify(character);
  }

  /** Goes past a match of a sticky pattern and returns it; null: there is none here. */
  protected match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  /** Goes past one character if it is the next; returns whether it was. */
  protected takes(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  protected checkDepth(depth: number, deepest: number): void {
    if (depth > deepest) throw new Wrong(`nested deeper than ${deepest} levels`, this.at);
  }
}

/** Returns what `read` returns, or the mistake that stopped it. */
export function attempt<R>(text: string, read: () => R): R | Mistake {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { error: `${error.message}.`, at: Math.min(error.at, text.length) };
  }
}
