// Three-way merge of two versions of a document and their base, field by field. Objects are merged
// recursively; any other value, including an array, is atomic. Languages are plugged in as
// dialects.
import { pathText } from '../values/path';

export type Side = 'theirs' | 'mine';

/** How values of a language are decomposed, compared and built. */
export interface Dialect<V> {
  /** Fields of an object; null: not an object. */
  fields(value: V): readonly (readonly [string, V])[] | null;
  /** Equal exactly for values of equal type and content. */
  signature(value: V): string;
  /** Display text, on one line if short. */
  shown(value: V): string;
  whole(fields: readonly (readonly [string, V])[]): V;
}

/** A field that differs from the base; a null text means that the field is absent. */
export interface Difference {
  path: string;
  before: string | null;
  theirs: string | null;
  mine: string | null;
  /** `alike`: both made the same change. */
  changedBy: Side | 'both' | 'alike';
}

export interface Merge<V> {
  merged: V;
  differences: Difference[];
}

/** The chosen side of conflicting fields, by path. */
export type Choices = ReadonlyMap<string, Side>;
const NONE: Choices = new Map();

/** The three versions of one value; undefined: absent. */
type Three<V> = readonly [before: V | undefined, theirs: V | undefined, mine: V | undefined];

const isAlike = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((name, at) => name === b[at]);

/**
 * Merges the field orders: the order of the side that changed it; each remaining name follows its
 * predecessor from the other side.
 */
function inOrder(before: readonly string[], theirs: readonly string[], mine: readonly string[]) {
  const [first, other] = isAlike(before, mine) ? [theirs, mine] : [mine, theirs];
  const names = [...first];
  const known = new Set(first);
  other.forEach((name, at) => {
    if (known.has(name)) return;
    const previous = at === 0 ? -1 : names.indexOf(other[at - 1] ?? '');
    names.splice(previous + 1, 0, name);
    known.add(name);
  });
  return names;
}

class Merger<V> {
  readonly differences: Difference[] = [];

  constructor(
    private readonly dialect: Dialect<V>,
    private readonly choices: Choices,
  ) {}

  value(three: Three<V>, path: readonly string[]): V | undefined {
    const [before, theirs, mine] = three.map((one) =>
      one === undefined ? null : this.dialect.fields(one),
    );
    // A scalar that both replaced by objects is a conflict, not a merge of both.
    if (theirs && mine && (before || three[0] === undefined))
      return this.object(before ?? [], theirs, mine, path);
    return this.single(three, path);
  }

  private object(
    before: readonly (readonly [string, V])[],
    theirs: readonly (readonly [string, V])[],
    mine: readonly (readonly [string, V])[],
    path: readonly string[],
  ): V {
    const all = [before, theirs, mine].map((fields) => new Map(fields));
    const names = all.map((fields) => [...fields.keys()]) as [string[], string[], string[]];
    const found: [string, V][] = [];
    for (const name of inOrder(...names)) {
      const three = all.map((fields) => fields.get(name)) as unknown as Three<V>;
      const value = this.value(three, [...path, name]);
      if (value !== undefined) found.push([name, value]);
    }
    return this.dialect.whole(found);
  }

  private single(three: Three<V>, path: readonly string[]): V | undefined {
    const [, theirs, mine] = three;
    const signs = three.map((one) => (one === undefined ? null : this.dialect.signature(one)));
    const changes = { theirs: signs[1] !== signs[0], mine: signs[2] !== signs[0] };
    if (!changes.theirs && !changes.mine) return mine;
    const isBoth = changes.theirs && changes.mine;
    const changedBy = !isBoth
      ? changes.mine
        ? 'mine'
        : 'theirs'
      : signs[1] === signs[2]
        ? 'alike'
        : 'both';
    const name = pathText(path);
    const [before, others, own] = three.map((one) =>
      one === undefined ? null : this.dialect.shown(one),
    ) as [string | null, string | null, string | null];
    this.differences.push({ path: name, before, theirs: others, mine: own, changedBy });
    const side = changedBy === 'both' ? (this.choices.get(name) ?? 'mine') : changedBy;
    return side === 'theirs' ? theirs : mine;
  }
}

/** Merges two versions of an object. A conflicting field is mine until a choice is made. */
export function merge<V>(
  dialect: Dialect<V>,
  [before, theirs, mine]: readonly [V, V, V],
  choices: Choices = NONE,
): Merge<V> {
  const merger = new Merger(dialect, choices);
  return {
    merged: merger.value([before, theirs, mine], []) ?? mine,
    differences: merger.differences,
  };
}

/** Returns the index of the first difference. */
function parting(a: string, b: string): number {
  const least = Math.min(a.length, b.length);
  let at = 0;
  while (at < least && a[at] === b[at]) at += 1;
  return at;
}

const LONGEST = 240;
const LEAD = 40;

/** Returns short excerpts of a field's versions, starting before their first difference. */
export function excerpts(texts: readonly (string | null)[]): (string | null)[] {
  const there = texts.filter((text) => text !== null);
  if (there.every((text) => text.length <= LONGEST)) return [...texts];
  const [first = ''] = there;
  const shared = Math.min(...there.slice(1).map((text) => parting(first, text)));
  const from = Number.isFinite(shared) ? Math.max(0, shared - LEAD) : 0;
  return texts.map((text) => {
    if (text === null) return null;
    const part = text.slice(from, from + LONGEST);
    return `${from > 0 ? '…' : ''}${part}${from + LONGEST < text.length ? '…' : ''}`;
  });
}
