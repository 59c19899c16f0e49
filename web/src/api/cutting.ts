// Lets the server cut large documents of a list, so that they do not cross the network for cells of
// 200 characters. A pipeline stage wraps each document: `d` is the document, or of a large one the
// start of each field; `n` is its size in bytes. A field of a user cannot be taken for the wrapper.
// Items of the NoSQL API are cut by the server itself, with the same limits
// (`crates/cosmos/src/item/cut.rs`).
import type { Document } from 'bson';
import { viewOf } from './bsonLayout';

/** Size in bytes above which a document is cut. */
export const CUT_ABOVE = 16 * 1024;
/** Size in bytes up to which a field of a cut document is whole. */
const OF_A_FIELD = 600;
/** Characters that are kept of a longer string. */
const OF_A_STRING = 400;
/** Elements that are kept of a longer array, if they are small enough. */
const OF_AN_ARRAY = 20;
/** Number of fields that are kept. */
const FIELDS = 300;
/** Position of the document within its wrapper: after the size, the type and the name `d`. */
const AT = 4 + 1 + 2;
/** Length of the type and the name `n`. */
const OF_A_NAME = 1 + 2;

const VALUE = '$$field.v';
const fits = (value: unknown) => ({ $lte: [{ $bsonSize: { v: value } }, OF_A_FIELD] });
const isA = (type: string) => ({ $eq: [{ $type: VALUE }, type] });
const text = (before: string, number: unknown, after: string) => ({
  $concat: [before, { $toString: number }, after],
});

const beginning = { $slice: [VALUE, OF_AN_ARRAY] };
const elements = text('array of ', { $size: VALUE }, ' elements');
const cases: [unknown, unknown][] = [
  [fits(VALUE), VALUE],
  [isA('string'), { $substrCP: [VALUE, 0, OF_A_STRING] }],
  [isA('array'), { $cond: [fits(beginning), beginning, elements] }],
  [isA('object'), text('object of ', { $bsonSize: VALUE }, ' bytes')],
  [isA('binData'), text('binary data of ', { $binarySize: VALUE }, ' bytes')],
];
/** The value of the first case that holds. */
const cutValue = cases.reduceRight<unknown>(
  (otherwise, [holds, value]) => ({ $cond: [holds, value, otherwise] }),
  'a long value',
);

/** Fields that are kept as they are: they identify a document and determine its expiry. */
const KEPT = { $in: ['$$field.k', ['_id', 'ttl']] };
const fields = { $objectToArray: '$$ROOT' };
const later = { $slice: [fields, FIELDS, { $max: [1, { $size: fields }] }] };
const start = {
  $arrayToObject: {
    $map: {
      input: {
        $concatArrays: [
          { $slice: [fields, FIELDS] },
          { $filter: { input: later, as: 'field', cond: KEPT } },
        ],
      },
      as: 'field',
      in: { k: '$$field.k', v: { $cond: [KEPT, VALUE, cutValue] } },
    },
  },
};

/** The last stage of a pipeline whose documents are read by `unwrapped`. */
export const CUTTING: Document = {
  $replaceWith: {
    d: { $cond: [{ $lte: [{ $bsonSize: '$$ROOT' }, CUT_ABOVE] }, '$$ROOT', start] },
    n: { $bsonSize: '$$ROOT' },
  },
};

/** Returns the document within a wrapper, and whether the server has cut it. */
export function unwrapped(bytes: Uint8Array): { bytes: Uint8Array; isCut: boolean } {
  const view = viewOf(bytes);
  const end = AT + view.getInt32(AT, true);
  const size = view.getInt32(end + OF_A_NAME, true);
  return { bytes: bytes.subarray(AT, end), isCut: size > CUT_ABOVE };
}
