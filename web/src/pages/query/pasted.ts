// Whether a change of a text has put something in at once that has a certain beginning. Pure.

/** What a change has put in: what stands between the parts that both texts begin and end with. */
export function putIn(before: string, after: string): string {
  const most = Math.min(before.length, after.length);
  let begin = 0;
  while (begin < most && before[begin] === after[begin]) begin += 1;
  let end = 0;
  while (end < most - begin && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return after.slice(begin, after.length - end);
}

/** Whether the whole text and what was put in are of a kind: typing puts in a character, a completion a word. */
export function isPasted(before: string, after: string, is: (text: string) => boolean): boolean {
  return is(after) && is(putIn(before, after));
}
