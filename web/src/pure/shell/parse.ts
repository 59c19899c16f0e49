// Parses literals of the MongoDB shell, and Extended JSON, also with unquoted keys; a key in
// brackets, `{ ["$oid"]: 1 }`, is always an ordinary one. Evaluates nothing; reports errors with
// their position.
import { type Document, Double, Int32, Long, MaxKey, MinKey } from 'bson';
import { attempt, type Mistake, Reader, Wrong } from '../reader';
import { BadValue, construct, fromExtended, isConstructor, isExtendedKey, regExp } from './values';

export type Parsed = { value: unknown } | Mistake;

const DEEPEST = 100;
export const NAME = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*/y;
const NUMBER = /[+-]?(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)/y;
const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const HEX = /^[0-9a-fA-F]+$/;
const LONGEST = (1n << 63n) - 1n;

const ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
  '\n': '',
};
const WORDS: Record<string, () => unknown> = {
  true: () => true,
  false: () => false,
  null: () => null,
  undefined: () => undefined,
  NaN: () => new Double(Number.NaN),
  Infinity: () => new Double(Infinity),
  MinKey: () => new MinKey(),
  MaxKey: () => new MaxKey(),
};

/** Converts a number literal: integers become Int32 or Long, all others Double. */
function numberOf(text: string, at: number): unknown {
  const [negative, body] = [text.startsWith('-'), text.replace(/^[+-]/, '')];
  if (/^\d+$/.test(body) || /^0[xX]/.test(body)) {
    const size = BigInt(body);
    if (negative && size === 0n) return new Double(-0);
    const value = negative ? -size : size;
    if (value >= -0x8000_0000n && value <= 0x7fff_ffffn) return new Int32(Number(value));
    if (value < -LONGEST - 1n || value > LONGEST) {
      throw new Wrong(
        'a whole number beyond 64 bits: write it with a point, or NumberDecimal("…")',
        at,
      );
    }
    return Long.fromBigInt(value);
  }
  return new Double((negative ? -1 : 1) * Number(body));
}

/** Sets a key; `__proto__` stays an ordinary one. */
function put(object: Document, key: string, value: unknown): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Parser of values; other parsers extend it. */
export class ShellReader extends Reader<unknown> {
  protected space(): void {
    this.match(SPACE);
    if (this.text.startsWith('/*', this.at))
      throw new Wrong('the comment is not terminated', this.at);
  }

  /** A statement may end with a semicolon. */
  protected override end(): void {
    this.space();
    this.takes(';');
    this.space();
  }

  protected value(depth: number): unknown {
    this.checkDepth(depth, DEEPEST);
    const next = this.peek();
    if (next === '{') return this.object(depth);
    if (next === '[') return this.list(']', depth);
    if (next === '"' || next === "'") return this.quoted();
    if (next === '/') return this.regExp();
    if (next === '`') throw new Wrong('strings are quoted with " or \', not with `', this.at);
    const at = this.at;
    const digits = this.match(NUMBER);
    if (digits !== null) {
      if (/[\w$]/.test(this.peek())) throw new Wrong('not a number', at);
      return numberOf(digits, at);
    }
    if (this.match(/[+-](?=Infinity|NaN)/y) === '-') {
      return new Double(this.match(NAME) === 'Infinity' ? -Infinity : Number.NaN);
    }
    return this.word(depth);
  }

  private word(depth: number): unknown {
    let at = this.at;
    let name = this.match(NAME);
    if (name === null) throw new Wrong(`expected a value but found ${this.shown()}`, at);
    const made = name === 'new';
    if (made) {
      this.space();
      at = this.at;
      name = this.match(NAME) ?? '';
    }
    this.space();
    if (this.peek() !== '(' && !made && Object.hasOwn(WORDS, name)) return WORDS[name]?.();
    if (!isConstructor(name)) {
      const hint = this.peek() === '(' || made ? '' : '; put strings in quotes';
      throw new Wrong(`unknown word ${JSON.stringify(name)}${hint}`, at);
    }
    if (this.peek() !== '(')
      throw new Wrong(`expected "(" after ${name} but found ${this.shown()}`, this.at);
    const args = this.list(')', depth);
    return this.guarded(at, () => construct(name, args));
  }

  private guarded<T>(at: number, make: () => T): T {
    try {
      return make();
    } catch (error) {
      if (error instanceof BadValue) throw new Wrong(error.message, at);
      throw error;
    }
  }

  /** Parses a comma-separated list in brackets or parentheses; a trailing comma is allowed. */
  protected list(end: string, depth: number): unknown[] {
    this.at += 1;
    const found: unknown[] = [];
    for (;;) {
      this.space();
      if (this.peek() === end) break;
      if (this.at >= this.text.length) throw new Wrong(`"${end}" is missing`, this.at);
      found.push(this.value(depth + 1));
      if (!this.comma(end)) break;
    }
    this.at += 1;
    return found;
  }

  /** Consumes a comma; false at the end of the list. */
  protected comma(end: string): boolean {
    this.space();
    if (this.peek() === end) return false;
    if (this.peek() !== ',') {
      throw new Wrong(`expected "," or "${end}" but found ${this.shown()}`, this.at);
    }
    this.at += 1;
    return true;
  }

  private object(depth: number): unknown {
    const began = this.at;
    this.at += 1;
    const object: Document = {};
    let extended = true;
    for (;;) {
      this.space();
      if (this.peek() === '}') break;
      const [at, isOrdinary] = [this.at, this.peek() === '['];
      const key = isOrdinary ? this.bracketed() : this.key();
      if (Object.hasOwn(object, key)) throw new Wrong(`duplicate key ${JSON.stringify(key)}`, at);
      extended &&= !isOrdinary && isExtendedKey(key);
      this.space();
      if (this.peek() !== ':') throw new Wrong(`expected ":" but found ${this.shown()}`, this.at);
      this.at += 1;
      this.space();
      put(object, key, this.value(depth + 1));
      if (!this.comma('}')) break;
    }
    this.at += 1;
    return extended ? this.guarded(began, () => fromExtended(object)) : object;
  }

  private bracketed(): string {
    this.at += 1;
    this.space();
    const isText = this.peek() === '"' || this.peek() === "'";
    if (!isText) throw new Wrong(`expected a key in quotes but found ${this.shown()}`, this.at);
    const key = this.key();
    this.space();
    if (!this.takes(']')) throw new Wrong(`expected "]" but found ${this.shown()}`, this.at);
    return key;
  }

  protected key(): string {
    const next = this.peek();
    const at = this.at;
    const key =
      next === '"' || next === "'" ? this.quoted() : (this.match(NAME) ?? this.match(/\d+/y));
    if (key === null) throw new Wrong(`expected a key or "}" but found ${this.shown()}`, at);
    if (key.includes('\0')) throw new Wrong('a key cannot contain a zero byte', at);
    return key;
  }

  protected quoted(): string {
    const [began, quote] = [this.at, this.peek()];
    const plain = quote === '"' ? /[^"\\\n\r]*/y : /[^'\\\n\r]*/y;
    let made = '';
    this.at += 1;
    for (;;) {
      made += this.match(plain) ?? '';
      if (this.peek() === quote) break;
      if (this.peek() !== '\\') throw new Wrong(`missing closing ${quote}`, began);
      made += this.escape();
    }
    this.at += 1;
    return made;
  }

  private escape(): string {
    const began = this.at;
    const kind = this.text.charAt(began + 1);
    this.at += 2;
    if (kind === '') throw new Wrong('the string is not terminated', began);
    if (kind !== 'x' && kind !== 'u') return ESCAPES[kind] ?? kind;
    const braced = kind === 'u' && this.peek() === '{';
    const end = braced ? this.text.indexOf('}', this.at) : this.at + (kind === 'x' ? 2 : 4);
    const digits = this.text.slice(this.at + (braced ? 1 : 0), end);
    const wanted = braced ? digits.length <= 6 : digits.length === (kind === 'x' ? 2 : 4);
    const unit = HEX.test(digits) && wanted && end > began ? Number.parseInt(digits, 16) : Infinity;
    if (unit > 0x10ffff) throw new Wrong('invalid escape sequence', began);
    this.at = end + (braced ? 1 : 0);
    return unit > 0xffff ? String.fromCodePoint(unit) : String.fromCharCode(unit);
  }

  private regExp(): unknown {
    const began = this.at;
    const found = this.match(
      /\/((?:[^/\\[\n\r]|\\[^\n\r]|\[(?:[^\]\\\n\r]|\\[^\n\r])*\])+)\/([A-Za-z]*)/y,
    );
    if (found === null) throw new Wrong('the regular expression is not terminated', began);
    const cut = found.lastIndexOf('/');
    return this.guarded(began, () => regExp(found.slice(1, cut), found.slice(cut + 1)));
  }
}

export function parseShell(text: string): Parsed {
  return attempt(text, () => ({ value: new ShellReader(text).whole() }));
}
