// The filters that find the documents of a class of expiry, for both APIs. Null where no filter can tell
// them from others: what is decided when a document is written is not written in it.
import { MAX_TTL } from '../ttl/reasons';
import type { Api } from '../values/compare';
import type { ExpiryClass, WhyIgnored } from './expiry';

/** `$expr`, since a comparison in a filter would also look into arrays. */
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

/** What stands in the filter of the Items page for a class; null: no filter tells its documents. */
export function filterOfClass(of: ExpiryClass, api: Api): string | null {
  if (api === 'mongo') return mongoFilter(of);
  const condition = nosqlCondition(of);
  return condition === null ? null : `WHERE ${condition}`;
}
