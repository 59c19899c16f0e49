// Lengths of encoded BSON values by type number.

export const [STRING, OBJECT, ARRAY, BINARY, REGEX] = [2, 3, 4, 5, 11];

/** Types of a fixed length, in bytes. */
const FIXED: Readonly<Record<number, number>> = {
  1: 8,
  6: 0,
  7: 12,
  8: 1,
  9: 8,
  10: 0,
  16: 4,
  17: 8,
  18: 8,
  19: 16,
  127: 0,
  255: 0,
};
/** Types that start with a length: bytes that the length does not include. */
const AFTER_LENGTH: Readonly<Record<number, number>> = {
  2: 4,
  3: 0,
  4: 0,
  5: 5,
  12: 16,
  13: 4,
  14: 4,
  15: 0,
};

/** Returns the length in bytes of the value that starts at `at`. Throws for an unknown type. */
export function sizeOfValue(bytes: Uint8Array, view: DataView, type: number, at: number): number {
  const fixed = FIXED[type];
  if (fixed !== undefined) return fixed;
  if (type === REGEX) {
    const pattern = bytes.indexOf(0, at);
    return bytes.indexOf(0, pattern + 1) + 1 - at;
  }
  const after = AFTER_LENGTH[type];
  if (after === undefined) throw new Error(`BSON has no type ${type}.`);
  return view.getInt32(at, true) + after;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
