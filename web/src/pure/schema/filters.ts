// Filters that select the documents of an expiry class, for both APIs. Null if no filter can:
// decisions made at write time are not stored in the document.
import { MAX_TTL } from '../ttl/reasons';
import type { Api } from '../values/compare';
import type { ExpiryClass, WhyIgnored } from './expiry';

/** `$expr`, since a plain comparison would also match array elements. */
const IS_NUMBER = '{ $in: [{ $type: "$ttl" }, ["int", "long", "double"]] }';
const IS_WHOLE = '{ $eq: [{ $trunc: "$ttl" }, "$ttl"] }';
const HAS_TTL = 'ttl: { $exists: true }';

function numeric(...conditions: string[]): string {
  return `{ $expr: { $and: [${[IS_NUMBER, ...conditions].join(', ')}] } }`;
}

const ENDLESS = 'Infinity, -Infinity';

const MONGO_IGNORED: Readonly<Record<WhyIgnored, string | null>> = {
  off: `{ ${HAS_TTL} }`,
  kind: `{ ${HAS_TTL}, $expr: { $not: [${IS_NUMBER}] } }`,
  fraction: numeric(`{ $or: [{ $not: [${IS_WHOLE}] }, { $in: ["$ttl", [NaN, ${ENDLESS}]] }] }`),
  large: numeric(IS_WHOLE, `{ $gt: ["$ttl", ${MAX_TTL}] }`, '{ $lt: ["$ttl", Infinity] }'),
  low: numeric(
    IS_WHOLE,
    '{ $lt: ["$ttl", 1] }',
    '{ $ne: ["$ttl", -1] }',
    '{ $not: [{ $in: ["$ttl", [NaN, -Infinity]] }] }',
  ),
  late: null,
};

const NOSQL_IGNORED: Readonly<Record<WhyIgnored, string | null>> = {
  off: 'IS_DEFINED(c.ttl)',
  kind: 'IS_DEFINED(c.ttl) AND NOT IS_NUMBER(c.ttl)',
  fraction: 'IS_NUMBER(c.ttl) AND FLOOR(c.ttl) != c.ttl',
  large: `IS_NUMBER(c.ttl) AND FLOOR(c.ttl) = c.ttl AND c.ttl > ${MAX_TTL}`,
  low: 'IS_NUMBER(c.ttl) AND FLOOR(c.ttl) = c.ttl AND c.ttl < 1 AND c.ttl != -1',
  late: null,
};

function mongoFilter(of: ExpiryClass): string | null {
  switch (of.kind) {
    case 'default':
    case 'none':
      return '{ ttl: { $exists: false } }';
    case 'own':
      return numeric(IS_WHOLE, '{ $gte: ["$ttl", 1] }', `{ $lte: ["$ttl", ${MAX_TTL}] }`);
    case 'never':
      return numeric('{ $eq: ["$ttl", -1] }');
    case 'ignored':
      return MONGO_IGNORED[of.why];
    case 'index':
      return null;
  }
}

function nosqlCondition(of: ExpiryClass): string | null {
  switch (of.kind) {
    case 'default':
    case 'none':
      return 'NOT IS_DEFINED(c.ttl)';
    case 'own':
      return `IS_NUMBER(c.ttl) AND FLOOR(c.ttl) = c.ttl AND c.ttl >= 1 AND c.ttl <= ${MAX_TTL}`;
    case 'never':
      return 'c.ttl = -1';
    case 'ignored':
      return NOSQL_IGNORED[of.why];
    case 'index':
      return null;
  }
}

/** Returns the text for the filter of the Items page; null: no filter selects this class. */
export function filterOfClass(of: ExpiryClass, api: Api): string | null {
  if (api === 'mongo') return mongoFilter(of);
  const condition = nosqlCondition(of);
  return condition === null ? null : `WHERE ${condition}`;
}
