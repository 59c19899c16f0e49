// Dates beyond those that JavaScript has: MongoDB counts milliseconds in 64 bits. To all that looks at
// dates it is one out of range; its milliseconds are kept beside that.

export class FarDate extends Date {
  constructor(readonly ms: bigint) {
    super(Number.NaN);
  }
}

/** The date so many milliseconds after 1970 began. */
export function dateOf(ms: bigint): Date {
  const near = new Date(Number(ms));
  return Number.isNaN(near.getTime()) ? new FarDate(ms) : near;
}

/** Milliseconds, to be compared; those of a far date are about right. */
export function msOf(date: Date): number {
  return date instanceof FarDate ? Number(date.ms) : date.getTime();
}

/** As Extended JSON writes it. */
export function extendedFar({ ms }: FarDate) {
  return { $date: { $numberLong: String(ms) } };
}

/** How many a value holds. */
export function countFar(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 0;
  if (value instanceof FarDate) return 1;
  let found = 0;
  for (const held of Object.values(value)) found += countFar(held);
  return found;
}
