// Finds names by typed words. A typed word matches the prefix of a word, the prefixes of
// consecutive words ("qs" finds "quickstart › sessions"), or a part within a word. Letters
// scattered over a name do not match. Pure.

/** Word separators in names and in the typed text. */
const BETWEEN = /[\s›/._:,;()…-]/;
const TYPED_BETWEEN = /[\s›]+/;
/** Minimum length of a match within a word. */
const LEAST_WITHIN = 3;

/** Base scores by kind of match. Their distance exceeds what length and position can add. */
const [WHOLE, BEGINS, RUNS, WITHIN] = [400, 300, 200, 100];
const FIRST = 20;

/** Whether a word starts at this position. */
function begins(lower: string, at: number): boolean {
  return at === 0 || BETWEEN.test(lower[at - 1] ?? '');
}

/** Whether a word ends before this position. */
function ends(lower: string, at: number): boolean {
  return at === lower.length || BETWEEN.test(lower[at] ?? '');
}

/** Whether `term` consists of prefixes of consecutive words. */
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

/** Scores a text against one typed word in lower case; null: no match. */
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

/** Scores a text against the typed text in lower case, higher is better; null: no match. */
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
  // Among equal matches, the shorter name is more specific.
  return sum / terms.length - Math.min(FIRST, lower.length / 64);
}

/** Returns the best matches, best first; the sort is stable. */
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
