// Finds where and why a text is not JSON. Browsers' messages differ or lack the position. Builds no
// value.

export interface Fault {
  line: number;
  column: number;
  why: string;
}

const DEEPEST = 100;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON requires escapes for them.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;

class Stop extends Error {
  constructor(
    readonly at: number,
    readonly why: string,
  ) {
    super(why);
  }
}

class Scanner {
  at = 0;
  constructor(readonly text: string) {}

  space(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? '')) this.at += 1;
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found === undefined) return null;
    this.at += found.length;
    return found;
  }

  private stop(expected: string): never {
    const [next] = this.text.slice(this.at);
    const found = next === undefined ? 'the text ends' : `found “${next}”`;
    throw new Stop(this.at, `expected ${expected} but ${found}`);
  }

  private name(seen: Set<string>): void {
    const begin = this.at;
    const name = this.take(STRING) ?? this.stop('a name in double quotes');
    const plain = JSON.parse(name) as string;
    if (seen.has(plain)) throw new Stop(begin, `the name ${name} occurs twice`);
    seen.add(plain);
    this.space();
    if (this.text[this.at] !== ':') this.stop('“:”');
    this.at += 1;
  }

  private entries(close: '}' | ']', depth: number): void {
    if (depth > DEEPEST) throw new Stop(this.at, `nested deeper than ${DEEPEST} levels`);
    const seen = new Set<string>();
    this.at += 1;
    this.space();
    if (this.text[this.at] === close) {
      this.at += 1;
      return;
    }
    for (;;) {
      this.space();
      if (close === '}') this.name(seen);
      this.value(depth + 1);
      this.space();
      const next = this.text[this.at];
      if (next !== ',' && next !== close) this.stop(`“,” or “${close}”`);
      this.at += 1;
      if (next === close) return;
    }
  }

  value(depth: number): void {
    this.space();
    const next = this.text[this.at];
    if (next === '{') this.entries('}', depth);
    else if (next === '[') this.entries(']', depth);
    else if (this.take(STRING) === null && this.take(LITERAL) === null) {
      if (next === '"') throw new Stop(this.at, 'the string is not terminated');
      this.stop('a value');
    }
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) this.stop('the end');
  }
}

/** Returns the first JSON syntax error; null: none. */
export function jsonFault(text: string): Fault | null {
  const scanner = new Scanner(text);
  try {
    scanner.value(0);
    scanner.end();
    return null;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const before = text.slice(0, error.at).split('\n');
    const column = (before.at(-1) ?? '').length + 1;
    return { line: before.length, column, why: error.why };
  }
}
