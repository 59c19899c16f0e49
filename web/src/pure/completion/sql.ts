// Completes a query of the NoSQL language: keywords, functions, aliases, and fields after an alias.
// Parses unfinished text leniently; the server reports errors.
import { sqlAlias } from '../values/sqlAlias';
import {
  type Candidate,
  type Completion,
  candidate,
  endOfWord,
  fieldDetail,
  namesBelow,
  ranked,
  type SampledField,
  valuesOf,
} from './candidates';
import { SQL_FUNCTIONS, SQL_KEYWORDS } from './sqlWords';

const TOKENS = /--[^\n]*|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/g;

/** Returns the text with strings and comments blanked; null: the cursor is in one. */
function code(text: string, at: number): string | null {
  let isInside = false;
  const blanked = text.replace(TOKENS, (found: string, begin: number) => {
    const isClosed = !found.startsWith('-') && found.length > 1 && found.at(-1) === found[0];
    const end = begin + found.length;
    if (at > begin && (isClosed ? at < end : at <= end)) isInside = true;
    return ' '.repeat(found.length);
  });
  return isInside ? null : blanked;
}

/** Maps each alias to its path; null: array elements, whose fields are unknown. */
export function aliasesOf(text: string): Map<string, readonly string[] | null> {
  const found = new Map<string, readonly string[] | null>();
  const name = sqlAlias(text);
  if (!/\bFROM\s+[A-Za-z_]\w*\s+IN\b/i.test(text)) found.set(name, []);
  for (const [, element = ''] of text.matchAll(/\b(?:JOIN|FROM)\s+([A-Za-z_]\w*)\s+IN\b/gi)) {
    found.set(element, null);
  }
  return found;
}

const PLAIN = /^[A-Za-z_]\w*$/;

/** Returns candidate fields after a dot, which must be identifiers. */
function fieldsBelow(
  fields: readonly SampledField[],
  path: readonly string[],
  typed: string,
  { at, to }: { at: number; to: number },
): Completion {
  const below = namesBelow(fields, path);
  const plain = below.filter(({ parts }) => PLAIN.test(parts.at(-1) ?? ''));
  const candidates = plain.map((field) =>
    candidate('field', field.parts.at(-1) ?? '', fieldDetail(field)),
  );
  return { from: at - typed.length, to, candidates: ranked(candidates, typed) };
}

/** `isCalled`: the parentheses already exist. */
function functionsOf(isCalled: boolean): Candidate[] {
  return SQL_FUNCTIONS.map(({ name, signature, isAggregate }) => {
    const takesNothing = signature.endsWith('()');
    const cursor = name.length + (takesNothing ? 2 : 1);
    const detail = isAggregate
      ? `${signature.slice(name.length)}, aggregate`
      : signature.slice(name.length);
    if (isCalled) return candidate('function', name, detail);
    return candidate('function', name, detail, `${name}()`, cursor);
  });
}

const SYSTEM: readonly SampledField[] = ['id', '_ts', '_etag'].map((name) => ({
  parts: [name],
  share: 1,
  kind: name === '_ts' ? 'number' : 'string',
}));

/** A comparison: alias, path, opening quote, and the typed text. */
const COMPARED =
  /([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)\s*(?:=|!=|<>|[<>]=?|\bIN\s*\((?:[^()"']|"[^"]*"|'[^']*')*?)\s*(?:(["'])([^"'\n]*)|([\w.-]*))$/i;

/** Number of characters that are searched for a comparison. */
const LONGEST = 1000;

interface Compared {
  alias: string;
  names: readonly string[];
  quote: string;
  typed: string;
}

/** Returns the comparison whose value is being typed; null: not a field comparison. */
function comparedAt(text: string, at: number): Compared | null {
  const begin = Math.max(0, at - LONGEST);
  const found = COMPARED.exec(text.slice(begin, at));
  if (found === null) return null;
  const [, alias = '', path = '', quote = '', quoted = '', plain = ''] = found;
  // The comparison must not be in a string or comment.
  if (code(text, begin + found.index + alias.length) === null) return null;
  return { alias, names: path.split('.').slice(1), quote, typed: quoted + plain };
}

function completeValue(
  text: string,
  at: number,
  { alias, names, quote, typed }: Compared,
  sampled: readonly SampledField[],
): Completion | null {
  const above = aliasesOf(text).get(alias);
  if (above === undefined || above === null) return null;
  const path = [...above, ...names].join('\0');
  const field = sampled.find(({ parts }) => parts.join('\0') === path);
  const to = endOfWord(text, at, typed, quote);
  const candidates = ranked(valuesOf(field, quote, text.slice(to)), typed);
  return candidates.length === 0 ? null : { from: at - typed.length, to, candidates };
}

/** Returns the end of the name at the cursor; after a dot, the next name is unrelated. */
function endOfName(text: string, at: number, typed: string): number {
  return typed === '' ? at : at + (/^\w+/.exec(text.slice(at))?.[0].length ?? 0);
}

/** Returns the candidates at a position of a query; null: none. */
export function completeSql(
  text: string,
  at: number,
  sampled: readonly SampledField[],
): Completion | null {
  const compared = comparedAt(text, at);
  const value = compared === null ? null : completeValue(text, at, compared, sampled);
  if (value !== null) return value;
  const blanked = code(text, at);
  if (blanked === null) return null;
  const before = blanked.slice(0, at);
  const aliases = aliasesOf(blanked);
  const path = /([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)*)\.(\w*)$/.exec(before);
  if (path !== null) {
    const [, alias = '', middle = '', typed = ''] = path;
    const above = aliases.get(alias);
    if (above === undefined || above === null) return null;
    const known = new Set(sampled.map(({ parts }) => parts.join('\0')));
    const fields = [...sampled, ...SYSTEM.filter(({ parts }) => !known.has(parts.join('\0')))];
    const to = endOfName(text, at, typed);
    return fieldsBelow(fields, [...above, ...middle.split('.').slice(1)], typed, { at, to });
  }
  const typed = /[A-Za-z_]\w*$/.exec(before)?.[0] ?? '';
  if (typed === '' && /[\w)\]@]$/.test(before)) return null;
  if (/@\w*$|\d\w*$/.test(before) && !/[A-Za-z_]\w*$/.test(before)) return null;
  const to = endOfName(text, at, typed);
  // The word that is being typed must not count as an alias.
  const rest =
    before.slice(0, before.length - typed.length) + blanked.slice(at).replace(/^\w*/, '');
  const words = [
    ...[...aliasesOf(rest).keys()].map((name) => candidate('alias', name)),
    ...SQL_KEYWORDS.map((name) => candidate('keyword', name)),
    ...functionsOf(/^\s*\(/.test(text.slice(to))),
  ];
  return { from: at - typed.length, to, candidates: ranked(words, typed) };
}
