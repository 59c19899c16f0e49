// Splits a list into batches for requests. Pure.

/** Yields batches within the limits, with at least one element each. */
export function* batches<T>(
  values: readonly T[],
  most: { count: number; size: number },
  sizeOf: (value: T) => number,
): Generator<T[]> {
  let [batch, size]: [T[], number] = [[], 0];
  for (const value of values) {
    const more = sizeOf(value);
    if (batch.length > 0 && (batch.length >= most.count || size + more > most.size)) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(value);
    size += more;
  }
  if (batch.length > 0) yield batch;
}
