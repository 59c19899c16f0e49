// Explains when an item expires, or why it does not: the rules of TTL in words. Uses no clock.
import { Double, Int32, Long } from 'bson';
import { printShell } from '../shell';

/** `null`: TTL is off; -1: on without a default; n: n seconds. */
export type Default = number | null;

/** Meaning of a document's own `ttl`. */
export type Meaning =
  | { kind: 'absent' }
  | { kind: 'never' }
  | { kind: 'seconds'; seconds: number }
  /** Treated as absent (or refused). */
  | { kind: 'meaningless'; why: string };

export interface Expiry {
  /** Milliseconds since the epoch; null: does not expire. */
  expiresAtMs: number | null;
  /** What determines the expiry: "default", "ttl", or the name of a TTL index. */
  by: string | null;
  /** Why it does not expire, or why its `ttl` is not decisive. */
  reason: string | null;
}

export const MAX_TTL = 2_147_483_647;

function ofNumber(value: number, shown: string): Meaning {
  if (!Number.isInteger(value))
    return { kind: 'meaningless', why: `${shown} is not a whole number` };
  if (value === -1) return { kind: 'never' };
  if (value > MAX_TTL) return { kind: 'meaningless', why: `${shown} is larger than ${MAX_TTL}` };
  if (value < 1) return { kind: 'meaningless', why: `${shown} is neither -1 nor positive` };
  return { kind: 'seconds', seconds: value };
}

function brief(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** Interprets an item's `ttl`, given as JSON; null: absent. */
export function meaningOfJson(text: string | null): Meaning {
  if (text === null) return { kind: 'absent' };
  if (/^-?\d/.test(text)) return ofNumber(Number(text), brief(text));
  return { kind: 'meaningless', why: `${brief(text)} is not a number` };
}

/** Interprets a document's `ttl`, a BSON value; undefined: absent. */
export function meaningOfBson(value: unknown): Meaning {
  if (value === undefined) return { kind: 'absent' };
  const shown = brief(printShell(value, 0));
  if (value instanceof Int32 || value instanceof Double) return ofNumber(value.value, shown);
  // A Timestamp is also a Long.
  if (value instanceof Long && value._bsontype === 'Long')
    return ofNumber(value.toNumber(), value.toString());
  if (typeof value === 'number') return ofNumber(value, shown);
  return { kind: 'meaningless', why: `${shown} is not an int, long or double` };
}

const OFF = 'TTL is off';
/** The reason for a document without a ttl while TTL is off. */
export const NEVER_WHERE_OFF = `never (${OFF})`;

function ignored(why: string, then: string): string {
  return `ttl ignored: ${why}; ${then}`;
}

/** Returns the expiry of class inherit; `why`: the reason why an existing `ttl` is ignored. */
function inherits(value: Default, writtenMs: number, why: string | null): Expiry {
  if (value === null || value === -1) {
    const never = 'never (no default)';
    return { expiresAtMs: null, by: null, reason: why === null ? never : ignored(why, never) };
  }
  const reason = why === null ? null : ignored(why, 'expires by the default');
  return { expiresAtMs: writtenMs + value * 1000, by: 'default', reason };
}

const lives = (reason: string): Expiry => ({ expiresAtMs: null, by: null, reason });

function whereOff(meaning: Meaning): Expiry {
  return lives(meaning.kind === 'absent' ? NEVER_WHERE_OFF : `ttl ignored: ${OFF}`);
}

/** Returns the expiry of a NoSQL item from the second of its last write. */
export function expiryOfItem(meaning: Meaning, writtenSeconds: number, value: Default): Expiry {
  if (value === null) return whereOff(meaning);
  const writtenMs = writtenSeconds * 1000;
  switch (meaning.kind) {
    case 'absent':
      return inherits(value, writtenMs, null);
    case 'meaningless':
      return inherits(value, writtenMs, meaning.why);
    case 'never':
      return lives('never (ttl = -1)');
    case 'seconds':
      return { expiresAtMs: writtenMs + meaning.seconds * 1000, by: 'ttl', reason: null };
  }
}

/** Expiry of a document as reported by the server. */
export interface DocumentFacts {
  class: 'inherit' | 'explicit' | 'never';
  expiresAtMs: number | null;
  by: string | null;
}

/** Why the `ttl` of a document of class inherit is ignored; null: it has none. */
function unheeded(meaning: Meaning): string | null {
  if (meaning.kind === 'absent') return null;
  if (meaning.kind === 'meaningless') return meaning.why;
  return 'written while per-document TTL was off';
}

/** Returns a MongoDB document's expiry from the server's facts; `ttl` explains it. */
export function expiryOfDocument(meaning: Meaning, facts: DocumentFacts, value: Default): Expiry {
  const { expiresAtMs, by } = facts;
  if (expiresAtMs !== null) {
    if (by === 'ttl') return { expiresAtMs, by, reason: null };
    const why = facts.class === 'inherit' && value !== null ? unheeded(meaning) : null;
    if (by === null || by === 'default') {
      const reason = why === null ? null : ignored(why, 'expires by the default');
      return { expiresAtMs, by: 'default', reason };
    }
    return { expiresAtMs, by, reason: `by index ${by}` };
  }
  if (value === null) return whereOff(meaning);
  if (facts.class === 'never') return lives('never (ttl = -1)');
  return inherits(-1, 0, unheeded(meaning));
}

/** The effect of a `ttl` that is about to be saved. */
export type Outlook =
  | { refused: string }
  /** Seconds to live from the save on; null: never expires. */
  | { refused: null; seconds: number | null; words: string };

/** `strict`: the NoSQL API, which refuses an invalid `ttl` where TTL is on. */
export function outlook(
  meaning: Meaning,
  value: Default,
  strict: boolean,
  perDocument: boolean,
): Outlook {
  const unread = !strict && !perDocument && meaning.kind !== 'absent';
  if (strict && value !== null && meaning.kind === 'meaningless') {
    return { refused: `ttl: ${meaning.why}; it must be -1 or from 1 to ${MAX_TTL}.` };
  }
  const heard: Meaning = unread ? { kind: 'meaningless', why: 'per-document TTL is off' } : meaning;
  const expiry = expiryOfItem(heard, 0, value);
  const seconds = expiry.expiresAtMs === null ? null : expiry.expiresAtMs / 1000;
  return {
    refused: null,
    seconds,
    words: expiry.reason ?? `expires by ${expiry.by === 'ttl' ? 'its ttl' : 'the default'}`,
  };
}

/** Returns why a lifetime cannot be extended, or null; `perDocument`: the switch's state. */
export function whyNotTtl(value: Default, perDocument: boolean): string | null {
  if (value === null) return `${OFF}: a ttl would have no effect.`;
  return perDocument ? null : 'Per-document TTL is off: a ttl would have no effect.';
}

/** Returns the `ttl` that, written now, moves the expiry by some seconds. */
export function extended(expiresAtMs: number, bySeconds: number, nowMs: number): number {
  return Math.ceil(expiresAtMs / 1000) + bySeconds - Math.floor(nowMs / 1000);
}
