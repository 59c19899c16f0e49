import { expect, test } from 'vitest';
import { type Entry, failuresAfter, outcomeOf } from './log';

let last = 0;
const entry = (kind: Entry['kind'], text: string, about?: string): Entry => {
  last += 1;
  return { id: last, at: 0, kind, text, ...(about === undefined ? {} : { about }) };
};

test('a failure is over when the same was answered since', () => {
  const failed = entry('failed', 'find app.log: no', 'find app.log');
  const other = entry('request', 'find app.other', 'find app.other');
  const same = entry('request', 'find app.log', 'find app.log');
  expect(outcomeOf([failed, other], 0)).toBe(failed);
  expect(outcomeOf([failed, other, same], 0)).toBeUndefined();
  expect(outcomeOf([same, failed], 0)).toBe(failed);
});

test('what was done stays, and what was said of another page does not', () => {
  const done = entry('done', 'Successfully deleted');
  const request = entry('request', 'find app.log', 'find app.log');
  expect(outcomeOf([done, request], 0)).toBe(done);
  expect(outcomeOf([done, request], done.id)).toBeUndefined();
});

test('failures are counted from the last that was seen', () => {
  const [one, two] = [entry('failed', 'a'), entry('request', 'b')];
  const three = entry('failed', 'c');
  expect(failuresAfter([one, two, three], 0)).toBe(2);
  expect(failuresAfter([one, two, three], one.id)).toBe(1);
  expect(failuresAfter([one, two, three], three.id)).toBe(0);
});

test('a mistyped key is forgotten once the person has signed in', () => {
  const wrong = entry('failed', 'POST /session: WrongKey', 'POST /session');
  const other = entry('failed', 'find app.log: no', 'find app.log');
  const right = entry('request', 'POST /session', 'POST /session');
  expect(failuresAfter([wrong], 0)).toBe(1);
  expect(failuresAfter([wrong, other, right], 0)).toBe(1);
  expect(failuresAfter([right, wrong], 0)).toBe(1);
});
