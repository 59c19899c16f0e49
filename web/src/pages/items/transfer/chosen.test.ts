import { expect, test } from 'vitest';
import { chosenFile, endsEarly, formOf } from './chosen';

test.each([
  ['[{"a":1},{"a":2}]', false],
  ['[{"a":1}]\n\n', false],
  ['[{"a":1},{"a":2},{"a":3', true],
  ['[{"a":1},', true],
  ['{"a":1}\n{"a":2}', false],
  [`[${'{"a":1},'.repeat(20_000)}{"a":2}]`, false],
  [`[${'{"a":1},'.repeat(20_000)}{"a":2`, true],
])('an array that is cut off is told: %#', async (text, want) => {
  const chosen = await chosenFile(new Blob([text]), 'x.json');
  expect(endsEarly(chosen, formOf(chosen, 'mongo'))).toBe(want);
});
