// Finds names by some of their letters, in order: "sess" and "qss" find "quickstart › sessions". Better
// are letters that follow each other and begin words. Pure.

const [LETTER, FOLLOWS, BEGINS, FIRST] = [1, 4, 6, 3];
const BETWEEN = /[\s›/._:-]/;

/** How well a text has the letters of `wanted` (lower case), the higher the better; null: it has not. */
export function score(text: string, wanted: string): number | null {
  if (wanted === '') return 0;
  const lower = text.toLowerCase();
  const whole = lower.indexOf(wanted);
  if (whole >= 0) {
    const begins = whole === 0 || BETWEEN.test(lower[whole - 1] ?? '');
    return wanted.length * (LETTER + FOLLOWS) + (begins ? BEGINS * 2 : 0) + FIRST / (1 + whole);
  }
  let [sum, at] = [0, -1];
  for (const letter of wanted) {
    if (letter === ' ') continue;
    const next = lower.indexOf(letter, at + 1);
    if (next < 0) return null;
    const begins = next === 0 || BETWEEN.test(lower[next - 1] ?? '');
    sum += LETTER + (next === at + 1 ? FOLLOWS : 0) + (begins ? BEGINS : 0);
    at = next;
  }
  // Letters all over a long text say little.
  return sum - lower.length / 64;
}

/** The same for words that stand in another order: each of them is in the text as it is. */
function scoreOfWords(text: string, words: readonly string[]): number | null {
  const lower = text.toLowerCase();
  if (words.length < 2 || !words.every((word) => lower.includes(word))) return null;
  return words.reduce((sum, word) => sum + (score(text, word) ?? 0), 0);
}

/** The best ones, the best first; equals stay in their order. */
export function best<T>(
  all: readonly T[],
  textOf: (one: T) => string,
  typed: string,
  most: number,
): T[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return all.slice(0, most);
  const words = wanted.split(/\s+/);
  const found: { one: T; points: number }[] = [];
  for (const one of all) {
    const text = textOf(one);
    const points = score(text, wanted) ?? scoreOfWords(text, words);
    if (points !== null) found.push({ one, points });
  }
  found.sort((a, b) => b.points - a.points);
  return found.slice(0, most).map(({ one }) => one);
}
