import { expect, test } from 'vitest';
import type { Expiry } from '../../../../pure/ttl/reasons';
import type { Row } from '../../source';
import { changedWords, factsOf, restartWords } from './facts';

const row = (value: Row['value'], by: string | null = null): Row => {
  const expiry: Expiry = { expiresAtMs: by === null ? null : 1000, by, reason: null };
  return { key: 'k', name: String(value.id), value, ref: null, expiry };
};
const whole = (value: unknown) => JSON.stringify(value);

test('what changes, what does not, and an example', () => {
  const rows = [
    row({ id: '1', a: 5 }),
    row({ id: '2', a: 'x' }),
    row({ id: '3', a: 7 }),
    row({ id: '4' }),
  ];
  const facts = factsOf(rows, { does: 'set', path: ['a'], value: 5 }, { whole });
  expect(facts.example).toEqual({ name: '2', before: 'a: "x"', after: 'a: 5' });
  expect(changedWords(facts, 4)).toBe(
    'Of 4: 3 will change; 1 is unchanged and will not be written. ' +
      '2 currently have another type: 1 string, 1 have no such field.',
  );
  const inner = factsOf(rows, { does: 'set', path: ['a', 'b'], value: 1 }, { whole });
  expect(changedWords(inner, 900)).toBe(
    'Of the 4 loaded: 1 will change; 3 cannot be changed: a holds a value of type number, ' +
      'and only objects have fields. 1 currently have another type: 1 have no such field.',
  );
  const renamed = factsOf(rows, { does: 'rename', path: ['a'], to: ['id'] }, { whole });
  expect(changedWords(renamed, 4)).toMatch(/3 already have a field with the new name/);
});

test('when each expires afterwards', () => {
  const rows = [
    row({ id: '1' }, 'default'),
    row({ id: '2', ttl: 60 }, 'ttl'),
    row({ id: '3', ttl: 3600 }, 'ttl'),
    row({ id: '4' }, 'at_1'),
    row({ id: '5' }),
  ];
  expect(restartWords({ api: 'mongo', defaultTtl: 7200 }, rows)).toBe(
    'Each change is a write and restarts the TTL. They expire: 1 by the default, ' +
      '2 hours after it; 2 by their own ttl, 1 minute to 1 hour after it; 1 by index at_1, which ' +
      'counts from a date in the document; 1 never.',
  );
  expect(restartWords({ api: 'nosql', defaultTtl: null }, rows.slice(4))).toMatch(/^TTL is off/);
});
