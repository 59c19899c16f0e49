/** Returns a generator of numbers below a bound, determined by the seed. */
export function numbers(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) % bound;
  };
}

/** Returns a generator of texts of up to `most` characters of an alphabet. */
export function texts(seed: number, alphabet: string): (most: number) => string {
  const next = numbers(seed);
  const letters = [...alphabet];
  return (most) =>
    Array.from({ length: next(most + 1) }, () => letters[next(letters.length)] ?? '').join('');
}
