// Finds the position of the cursor in an unfinished text of the MongoDB shell: enclosing objects
// and arrays, keys, and whether it is in a key or a value. Parses no values.

/** An object or array that encloses the position, outermost first. */
export interface Level {
  isArray: boolean;
  /** Its key; null: an array element or the root. */
  key: string | null;
}

export interface Place {
  is: 'key' | 'value';
  isQuoted: boolean;
  /** Start of the typed text, after its quote. */
  from: number;
  typed: string;
  /** In a value: its key; null: an array element. */
  key: string | null;
  levels: Level[];
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[\w$.]+|[^\s\w]/gy;

interface Open extends Level {
  /** In an object: the last key, whose value is being parsed. */
  pending: string | null;
  expects: 'key' | 'value' | 'end';
}

const isQuote = (unit: string) => unit === '"' || unit === "'";

function isClosed(token: string): boolean {
  return token.length > 1 && token.at(-1) === token[0];
}

function nameOf(token: string): string {
  return isQuote(token.charAt(0)) ? token.slice(1, isClosed(token) ? -1 : undefined) : token;
}

/** Processes one token. */
function step(open: Open[], token: string): void {
  const top = open.at(-1);
  if (token === '{' || token === '[') {
    const isArray = token === '[';
    const key = top !== undefined && !top.isArray ? top.pending : null;
    open.push({ isArray, key, pending: null, expects: isArray ? 'value' : 'key' });
  } else if (token === '(') {
    open.push({ isArray: true, key: '(', pending: null, expects: 'value' });
  } else if (token === '}' || token === ']' || token === ')') {
    open.pop();
    const outer = open.at(-1);
    if (outer !== undefined) outer.expects = 'end';
  } else if (top === undefined) {
    return;
  } else if (token === ',') {
    top.pending = null;
    top.expects = top.isArray ? 'value' : 'key';
  } else if (token === ':') {
    top.expects = 'value';
  } else if (top.expects === 'key') {
    top.pending = nameOf(token);
    top.expects = 'end';
  } else {
    top.expects = 'end';
  }
}

function placeIn(
  open: readonly Open[],
  from: number,
  typed: string,
  isQuoted: boolean,
): Place | null {
  const top = open.at(-1);
  if (top === undefined || top.expects === 'end' || open.some(({ key }) => key === '('))
    return null;
  const levels = open.map(({ isArray, key }) => ({ isArray, key }));
  const key = top.isArray ? null : top.pending;
  return { is: top.expects, isQuoted, from, typed, key, levels };
}

/** Returns the place at a position; null: outside objects, or where no token can start. */
export function placeOf(text: string, at: number): Place | null {
  const before = text.slice(0, at);
  const open: Open[] = [];
  TOKEN.lastIndex = 0;
  for (let begin = 0; begin < before.length; ) {
    if (/\s/.test(before.charAt(begin))) {
      begin += 1;
      continue;
    }
    TOKEN.lastIndex = begin;
    const token = TOKEN.exec(before)?.[0] ?? before.charAt(begin);
    const end = begin + token.length;
    const isComment = token.startsWith('//') || token.startsWith('/*');
    if (end === before.length) {
      if (isComment && !token.endsWith('*/')) return null;
      if (isQuote(token.charAt(0)) && !isClosed(token)) {
        return placeIn(open, begin + 1, token.slice(1), true);
      }
      if (/^[\w$.]/.test(token)) return placeIn(open, begin, token, false);
    }
    if (!isComment) step(open, token);
    begin = end;
  }
  return placeIn(open, at, '', false);
}
