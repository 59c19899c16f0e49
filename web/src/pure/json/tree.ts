// Parses JSON into a tree whose numbers and strings keep their original text, so that 20.0 and
// 9007199254740993 are preserved. Strict JSON only.

import { attempt, type Mistake, Reader, Wrong } from '../reader';

export type JsonNode =
  | { kind: 'object'; at: number; entries: JsonEntry[] }
  | { kind: 'array'; at: number; elements: JsonNode[] }
  /** A number, string, true, false or null, as written. */
  | { kind: 'plain'; at: number; text: string };

export interface JsonEntry {
  key: string;
  /** Includes its quotes. */
  keyText: string;
  at: number;
  value: JsonNode;
}

export type JsonRead = { root: JsonNode } | Mistake;

/** The server's nesting limit. */
const DEEPEST = 128;
const SPACE = /[ \t\n\r]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON requires escapes for them.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

class JsonReader extends Reader<JsonNode> {
  constructor(
    text: string,
    private readonly deepest: number,
  ) {
    super(text);
  }

  protected space(): void {
    this.match(SPACE);
  }

  protected value(depth: number): JsonNode {
    this.checkDepth(depth, this.deepest);
    const at = this.at;
    const next = this.peek();
    if (next === '{') return { kind: 'object', at, entries: this.entries(depth) };
    if (next === '[') return { kind: 'array', at, elements: this.elements(depth) };
    if (next === '"') return { kind: 'plain', at, text: this.string() };
    const text = this.match(PLAIN);
    if (text !== null) return { kind: 'plain', at, text };
    if (next === "'") throw new Wrong('strings are quoted with ", not with \'', at);
    throw new Wrong(`expected a value but found ${this.shown()}`, at);
  }

  private string(): string {
    const at = this.at;
    const text = this.match(STRING);
    if (text === null)
      throw new Wrong('the string is not terminated or contains unescaped characters', at);
    return text;
  }

  /** Whether another element follows; a trailing comma is an error. */
  private goesOn(end: string): boolean {
    this.space();
    if (this.takes(end)) return false;
    const at = this.at;
    if (!this.takes(',')) throw new Wrong(`expected "," or "${end}" but found ${this.shown()}`, at);
    this.space();
    if (this.peek() === end) throw new Wrong('unexpected trailing comma', at);
    return true;
  }

  private entries(depth: number): JsonEntry[] {
    this.at += 1;
    this.space();
    const found: JsonEntry[] = [];
    if (this.takes('}')) return found;
    do {
      const at = this.at;
      if (this.peek() !== '"')
        throw new Wrong(`expected a key in double quotes but found ${this.shown()}`, at);
      const keyText = this.string();
      this.space();
      if (!this.takes(':')) throw new Wrong(`expected ":" but found ${this.shown()}`, this.at);
      this.space();
      found.push({ key: JSON.parse(keyText) as string, keyText, at, value: this.value(depth + 1) });
    } while (this.goesOn('}'));
    return found;
  }

  private elements(depth: number): JsonNode[] {
    this.at += 1;
    this.space();
    const found: JsonNode[] = [];
    if (this.takes(']')) return found;
    do found.push(this.value(depth + 1));
    while (this.goesOn(']'));
    return found;
  }
}

/** Parses a text; `around`: nesting levels allowed above the server's limit. */
export function readJson(text: string, around = 0): JsonRead {
  return attempt(text, () => ({ root: new JsonReader(text, DEEPEST + around).whole() }));
}

/** Prints a tree with an indent of two; numbers and strings as written. */
export function printJson(node: JsonNode, before = ''): string {
  if (node.kind === 'plain') return node.text;
  const inner = `${before}  `;
  const parts =
    node.kind === 'array'
      ? node.elements.map((element) => printJson(element, inner))
      : node.entries.map((entry) => `${entry.keyText}: ${printJson(entry.value, inner)}`);
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${before}${close}`;
}

/** Prints a tree on one line; numbers and strings as written. */
export function printCompact(node: JsonNode): string {
  if (node.kind === 'plain') return node.text;
  if (node.kind === 'array') return `[${node.elements.map(printCompact).join(',')}]`;
  return `{${node.entries.map(({ keyText, value }) => `${keyText}:${printCompact(value)}`).join(',')}}`;
}

/** Returns the effective entry for a key: the last of duplicates. */
export function entryOf(node: JsonNode, key: string): JsonEntry | null {
  if (node.kind !== 'object') return null;
  return node.entries.findLast((entry) => entry.key === key) ?? null;
}

/** Returns an object without some of its entries. */
export function without(node: JsonNode, keys: ReadonlySet<string>): JsonNode {
  if (node.kind !== 'object') return node;
  return { ...node, entries: node.entries.filter((entry) => !keys.has(entry.key)) };
}

/** Returns the line number of an offset, from 1. */
export function lineOf(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1))
    line += 1;
  return line;
}

/** Removes white space between JSON tokens; lenient for other text. */
export function compactJson(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[ \t\n\r]+/g, (token) =>
    token.startsWith('"') ? token : '',
  );
}
