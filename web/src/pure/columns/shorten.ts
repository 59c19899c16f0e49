// Shortens texts in their middle, so that ids that begin alike can still be told apart. Measures
// characters, not pixels.

const GAP = '…';

/** A cut that does not go through a pair of units that are one character. */
function cut(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at;
}

/** A text of at most `most` units; a third of them from its beginning, the others from its end. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) / 3);
  const tail = Math.max(1, most - 1 - head);
  return text.slice(0, cut(text, head)) + GAP + text.slice(cut(text, text.length - tail));
}

function sharedHead(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/** The texts by how they are shown, of those shown alike all. */
function alike(shown: ReadonlyMap<string, string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const [text, short] of shown) groups.set(short, [...(groups.get(short) ?? []), text]);
  return [...groups.values()].filter((group) => group.length > 1);
}

/** The part in which a group differs, between gaps. */
function aroundDifference(text: string, from: number, most: number): string {
  const begin = cut(text, Math.max(0, from));
  const end = cut(text, Math.min(text.length, begin + Math.max(1, most - 2)));
  return (begin > 0 ? GAP : '') + text.slice(begin, end) + (end < text.length ? GAP : '');
}

/**
 * Texts of about `most` units of which no two different ones look alike. Those that would look alike
 * are shown by the part in which they differ, and in a wider form where that is not enough.
 */
export function toldApart(texts: readonly string[], most: number): Map<string, string> {
  const shown = new Map(texts.map((text) => [text, shortened(text, most)]));
  for (const group of alike(shown)) {
    const [first = ''] = group;
    const from = Math.min(...group.slice(1).map((text) => sharedHead(first, text)));
    for (const text of group) shown.set(text, aroundDifference(text, from, most));
  }
  for (let wide = most * 2; ; wide *= 2) {
    const groups = alike(shown);
    if (groups.length === 0) return shown;
    for (const text of groups.flat()) shown.set(text, shortened(text, wide));
  }
}
