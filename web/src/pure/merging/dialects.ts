// Merge dialects for items of the NoSQL API and documents of the MongoDB API: numbers keep their
// text, and values their BSON types.
import { type JsonNode, printCompact, printJson, readJson } from '../json/tree';
import type { Mistake } from '../reader';
import { parseShell, printShell } from '../shell';
import { isPlainObject } from '../values/kind';
import { type Choices, type Dialect, type Difference, merge } from './merge';

const SHORT = 60;
const short = (line: string) => (line.length <= SHORT ? line : null);

type Named<V> = readonly (readonly [string, V])[];

/** Of duplicate keys the last one counts. */
function jsonFields(node: JsonNode): Named<JsonNode> | null {
  if (node.kind !== 'object') return null;
  return [...new Map(node.entries.map(({ key, value }) => [key, value]))];
}

/** Serializes canonically on one line: strings escaped as by JSON.stringify. */
function jsonSignature(node: JsonNode): string {
  if (node.kind === 'array') return `[${node.elements.map(jsonSignature).join(',')}]`;
  const fields = jsonFields(node);
  if (fields !== null)
    return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${jsonSignature(value)}`).join(',')}}`;
  const text = printCompact(node);
  return text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text;
}

export const JSON_DIALECT: Dialect<JsonNode> = {
  fields: jsonFields,
  signature: jsonSignature,
  shown: (node) => short(printCompact(node)) ?? printJson(node),
  whole: (fields) => ({
    kind: 'object',
    at: 0,
    entries: fields.map(([key, value]) => ({ key, keyText: JSON.stringify(key), at: 0, value })),
  }),
};

export const SHELL_DIALECT: Dialect<unknown> = {
  fields: (value) => (isPlainObject(value) ? Object.entries(value) : null),
  signature: (value) => printShell(value, 0),
  shown: (value) => short(printShell(value, 0)) ?? printShell(value),
  whole: (fields) => {
    const object = {};
    // `__proto__` must stay an ordinary key.
    for (const [key, value] of fields)
      Object.defineProperty(object, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    return object;
  },
};

export interface MergedTexts {
  text: string;
  differences: Difference[];
}

export type Texts = readonly [before: string, theirs: string, mine: string];

function mergeRead<V>(
  texts: Texts,
  dialect: Dialect<V>,
  read: (text: string) => { value: V } | Mistake,
  print: (value: V) => string,
  choices: Choices,
): MergedTexts | Mistake {
  const values: V[] = [];
  // Parse `mine` first: it is the likely one to be invalid.
  for (const text of [...texts].reverse()) {
    const found = read(text);
    if ('error' in found) return found;
    if (dialect.fields(found.value) === null) return { error: 'Not an object.', at: 0 };
    values.unshift(found.value);
  }
  const { merged, differences } = merge(dialect, values as unknown as [V, V, V], choices);
  return { text: print(merged), differences };
}

/** Merges texts of a language, or returns the first syntax error. */
export function mergeTexts(
  language: 'json' | 'shell',
  texts: Texts,
  choices: Choices = new Map(),
): MergedTexts | Mistake {
  if (language === 'shell') return mergeRead(texts, SHELL_DIALECT, parseShell, printShell, choices);
  const read = (text: string) => {
    const found = readJson(text);
    return 'error' in found ? found : { value: found.root };
  };
  return mergeRead(texts, JSON_DIALECT, read, printJson, choices);
}
