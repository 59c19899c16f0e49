// Shortens texts in the middle, so that ids with a common prefix remain distinguishable. Measures
// characters, not pixels.

const GAP = '…';

/** Returns a cut position that does not split a surrogate pair. */
function cut(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at;
}

/** Shortens a text to at most `most` code units: a third from its start, the rest from its end. */
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

/** Groups texts whose shortened forms are equal. */
function alike(shown: ReadonlyMap<string, string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const [text, short] of shown) groups.set(short, [...(groups.get(short) ?? []), text]);
  return [...groups.values()].filter((group) => group.length > 1);
}

/** Returns the part around the first difference, between ellipses. */
function aroundDifference(text: string, from: number, most: number): string {
  const begin = cut(text, Math.max(0, from));
  const end = cut(text, Math.min(text.length, begin + Math.max(1, most - 2)));
  return (begin > 0 ? GAP : '') + text.slice(begin, end) + (end < text.length ? GAP : '');
}

/**
 * Shortens texts to about `most` code units so that different texts stay different. Texts that
 * would collide are cut around their first difference, and wider if needed.
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
