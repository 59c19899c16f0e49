// Dates outside JavaScript's range: MongoDB has 64-bit milliseconds. Such a date is an invalid
// `Date` that also carries its milliseconds.

export class FarDate extends Date {
  constructor(readonly ms: bigint) {
    super(Number.NaN);
  }
}

/** Returns the date `ms` after the epoch. */
export function dateOf(ms: bigint): Date {
  const near = new Date(Number(ms));
  return Number.isNaN(near.getTime()) ? new FarDate(ms) : near;
}

/** Returns milliseconds for comparisons; approximate for far dates. */
export function msOf(date: Date): number {
  return date instanceof FarDate ? Number(date.ms) : date.getTime();
}

/** Returns the Extended JSON of the date. */
export function extendedFar({ ms }: FarDate) {
  return { $date: { $numberLong: String(ms) } };
}

/** Counts the far dates in a value. */
export function countFar(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0;
  if (value instanceof FarDate) return 1;
  let found = 0;
  for (const held of Object.values(value)) found += countFar(held);
  return found;
}
