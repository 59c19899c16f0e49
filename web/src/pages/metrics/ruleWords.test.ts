import { expect, test } from 'vitest';
import { ruleWords } from './ruleWords';

const at = { name: 'at_ttl', seconds: 30 * 86_400 };

test.each([
  [null, [], 'Off'],
  [null, [at], 'Off; by date: at_ttl, 30 days'],
  [-1 as const, [], 'On (no default)'],
  [
    60,
    [at, { name: 'b', seconds: 0 }],
    'On: 60 s = 1 minute; by date: at_ttl, 30 days; b, 0 seconds',
  ],
])('default %j with date indexes', (value, rules, words) => {
  expect(ruleWords(value, rules)).toBe(words);
});
