// Finds names by the words that are typed. A word that is typed matches the beginning of a word, the
// beginnings of words that follow each other ("qs" finds "quickstart › sessions"), or a part within a word.
// Letters that are scattered over a name do not match. Pure.

/** What separates words, in names and in what is typed. */
const BETWEEN = /[\s›/._:,;()…-]/;
const TYPED_BETWEEN = /[\s›]+/;
/** A part within a word says something only from this length on. */
const LEAST_WITHIN = 3;

/** How good a match is, the best first. Between two of them lies more than length and place can add. */
const [WHOLE, BEGINS, RUNS, WITHIN] = [400, 300, 200, 100];
const FIRST = 20;

/** Whether a word begins at this place. */
function begins(lower: string, at: number): boolean {
  return at === 0 || BETWEEN.test(lower[at - 1] ?? '');
}

/** Whether a word ends before this place. */
function ends(lower: string, at: number): boolean {
  return at === lower.length || BETWEEN.test(lower[at] ?? '');
}

/** Whether `term` is made of the beginnings of words that follow each other. */
function isOfRuns(lower: string, term: string): boolean {
  const words = lower.split(BETWEEN).filter((word) => word !== '');
  const failed = new Set<number>();
  const from = (letter: number, at: number): boolean => {
    if (letter === term.length) return true;
    const word = words[at];
    const state = letter * (words.length + 1) + at;
    if (word === undefined || failed.has(state)) return false;
    let same = 0;
    while (same < word.length && word[same] === term[letter + same]) same += 1;
    for (let taken = same; taken > 0; taken -= 1) if (from(letter + taken, at + 1)) return true;
    failed.add(state);
    return false;
  };
  return words.some((word, at) => word[0] === term[0] && from(0, at));
}

/** How well a text matches one word that was typed, in lower case; null: not at all. */
function scoreOfTerm(lower: string, term: string): number | null {
  let within = -1;
  for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, at + 1)) {
    if (begins(lower, at))
      return (ends(lower, at + term.length) ? WHOLE : BEGINS) + FIRST / (1 + at);
    if (within < 0) within = at;
  }
  if (term.length > 1 && isOfRuns(lower, term)) return RUNS;
  return within >= 0 && term.length >= LEAST_WITHIN ? WITHIN + FIRST / (1 + within) : null;
}

/** How well a text matches what was typed, in lower case, the higher the better; null: not at all. */
export function score(text: string, wanted: string): number | null {
  const lower = text.toLowerCase();
  const terms = wanted.split(TYPED_BETWEEN).filter((term) => term !== '');
  let sum = 0;
  for (const term of terms) {
    const points = scoreOfTerm(lower, term);
    if (points === null) return null;
    sum += points;
  }
  if (terms.length === 0) return 0;
  // Of names that match alike, the shorter says more.
  return sum / terms.length - Math.min(FIRST, lower.length / 64);
}

/** Returns the best ones, the best first; equals stay in their order. */
export function best<T>(
  all: readonly T[],
  textOf: (one: T) => string,
  typed: string,
  most: number,
): T[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return all.slice(0, most);
  const found: { one: T; points: number }[] = [];
  for (const one of all) {
    const points = score(textOf(one), wanted);
    if (points !== null) found.push({ one, points });
  }
  found.sort((a, b) => b.points - a.points);
  return found.slice(0, most).map(({ one }) => one);
}
