// Highlighters of the NoSQL query language and of shell literals. They do not check syntax; the
// server does.
import { StreamLanguage, type StringStream } from '@codemirror/language';

const SQL_WORDS = new Set(
  `select value from where order by group top distinct as in between like escape and or not exists
  join offset limit asc desc array all udf null undefined true false`.split(/\s+/),
);

function quoted(stream: StringStream, quote: string): void {
  let escaped = false;
  for (let next = stream.next(); next != null; next = stream.next()) {
    if (next === quote && !escaped) return;
    escaped = next === '\\' && !escaped;
  }
}

function token(words: (word: string) => string | null) {
  return (stream: StringStream): string | null => {
    if (stream.eatSpace()) return null;
    if (stream.match('--') || stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    const next = stream.next() ?? '';
    if (next === '"' || next === "'") {
      quoted(stream, next);
      return 'string';
    }
    if (/\d/.test(next)) {
      stream.match(/^[\d.]*([eE][+-]?\d+)?/);
      return 'number';
    }
    if (/[\w$@]/.test(next)) {
      stream.match(/^[\w$]*/);
      return words(stream.current());
    }
    return null;
  };
}

export const sqlLanguage = StreamLanguage.define({
  name: 'sql',
  token: token((word) => (SQL_WORDS.has(word.toLowerCase()) ? 'keyword' : 'variableName')),
});

const shellToken = token((word) => {
  if (word.startsWith('$')) return 'keyword';
  if (/^(true|false|null|undefined|NaN|Infinity)$/.test(word)) return 'bool';
  return /^[A-Z]/.test(word) ? 'keyword' : 'propertyName';
});

interface ShellState {
  /** Inside a comment that started on this line or an earlier one. */
  inComment: boolean;
}

function shellTokenIn(stream: StringStream, state: ShellState): string | null {
  if (!state.inComment && !stream.match('/*')) return shellToken(stream);
  state.inComment = stream.match(/^.*?\*\//) === null;
  if (state.inComment) stream.skipToEnd();
  return 'comment';
}

export const shellLanguage = StreamLanguage.define<ShellState>({
  name: 'shell',
  startState: () => ({ inComment: false }),
  token: shellTokenIn,
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } } },
});
