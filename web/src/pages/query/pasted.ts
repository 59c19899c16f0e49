// Detects pasted text of a certain kind. Pure.

/** Returns the inserted text: what remains without the common prefix and suffix. */
export function putIn(before: string, after: string): string {
  const most = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < most && before[begin] === after[begin]) begin += 1;
  let end = 0;
  while (end < most - begin && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return after.slice(begin, after.length - end);
}

/**
 * Returns whether both the whole and the inserted text are of the kind; typing inserts a character,
 * a completion a word.
 */
export function isPasted(before: string, after: string, is: (text: string) => boolean): boolean {
  return is(after) && is(putIn(before, after));
}
