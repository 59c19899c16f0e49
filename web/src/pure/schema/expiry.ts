// Classifies the documents of a sample by how they expire: collection default, own ttl, TTL index
// on a date, never, or by the default because the ttl is ignored. Uses no server and no clock.
import type { Default, Expiry, Meaning } from '../ttl/reasons';
import { MAX_TTL } from '../ttl/reasons';

/** Why an existing ttl is ignored. */
export type WhyIgnored = 'off' | 'kind' | 'fraction' | 'large' | 'low' | 'late';

export type ExpiryClass =
  | { kind: 'default' }
  | { kind: 'own' }
  | { kind: 'index'; name: string }
  /** No ttl, and no default or TTL is off. */
  | { kind: 'none'; isOff: boolean }
  /** ttl = -1. */
  | { kind: 'never' }
  | { kind: 'ignored'; why: WhyIgnored };

/** Maps a message of `ttl/reasons` to the rule that the ttl breaks. */
function whyMeaningless(why: string): WhyIgnored {
  if (why.endsWith('is not a whole number')) return 'fraction';
  if (why.endsWith(`is larger than ${MAX_TTL}`)) return 'large';
  return why.endsWith('is neither -1 nor positive') ? 'low' : 'kind';
}

/** Classifies a document by its ttl and its expiry. */
export function classOf(meaning: Meaning, expiry: Expiry, value: Default): ExpiryClass {
  const { by } = expiry;
  if (by !== null && by !== 'default' && by !== 'ttl') return { kind: 'index', name: by };
  if (by === 'ttl') return { kind: 'own' };
  if (value === null) {
    return meaning.kind === 'absent'
      ? { kind: 'none', isOff: true }
      : { kind: 'ignored', why: 'off' };
  }
  switch (meaning.kind) {
    case 'absent':
      return by === 'default' ? { kind: 'default' } : { kind: 'none', isOff: false };
    case 'meaningless':
      return { kind: 'ignored', why: whyMeaningless(meaning.why) };
    // A valid ttl that the server ignores: it was written while per-document TTL was off.
    case 'seconds':
      return { kind: 'ignored', why: 'late' };
    case 'never':
      return by === 'default' || expiry.reason !== 'never (ttl = -1)'
        ? { kind: 'ignored', why: 'late' }
        : { kind: 'never' };
  }
}

export interface ClassFacts {
  of: ExpiryClass;
  count: number;
  share: number;
}

export interface Expiring {
  meaning: Meaning;
  expiry: Expiry;
}

/** Returns the classes of a sample, largest first. */
export function expiryClasses(sample: readonly Expiring[], value: Default): ClassFacts[] {
  const found = new Map<string, ClassFacts>();
  for (const { meaning, expiry } of sample) {
    const of = classOf(meaning, expiry, value);
    const key = JSON.stringify(of);
    const facts = found.get(key) ?? { of, count: 0, share: 0 };
    facts.count += 1;
    found.set(key, facts);
  }
  const classes = [...found.values()].sort((a, b) => b.count - a.count);
  for (const facts of classes) facts.share = facts.count / sample.length;
  return classes;
}

const WHY: Readonly<Record<WhyIgnored, string>> = {
  off: 'TTL is off',
  kind: 'it is not a number',
  fraction: 'it is not a whole number',
  large: `it is larger than ${MAX_TTL}`,
  low: 'it is neither -1 nor positive',
  late: 'it was written while per-document TTL was off',
};

export function classInWords(of: ExpiryClass): string {
  switch (of.kind) {
    case 'default':
      return 'Collection default';
    case 'own':
      return 'Own ttl';
    case 'index':
      return `Date index ${of.name}`;
    case 'none':
      return of.isOff ? 'Never: TTL is off' : 'Never: no default';
    case 'never':
      return 'Never: ttl = -1';
    case 'ignored':
      return `ttl ignored: ${WHY[of.why]}`;
  }
}
