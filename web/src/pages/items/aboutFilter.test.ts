import { expect, test } from 'vitest';
import { ApiError } from '../../api/http';
import { CommandError } from '../../api/mongo';
import { isAboutFilter, wrongWords } from './aboutFilter';

const refused = (status: number) => new ApiError('refused', status, 'Code', 'said');
const command = (number: number) => new CommandError(number, 'Name', 'said', null);

test.each<[string, unknown, boolean]>([
  ['a text that cannot be read', new Error('At character 3'), true],
  ['a query that is refused', refused(400), true],
  ['a command that is refused', command(2), true],
  ['too many requests', refused(429), false],
  ['a server that is away', new ApiError('network', 0, 'Unreachable', 'said'), false],
  ['what is not there', refused(404), false],
  ['no right to it', command(13), false],
  ['no time left', command(50), false],
])('%s', (_, failure, want) => {
  expect(isAboutFilter(failure, 'a filter')).toBe(want);
  expect(isAboutFilter(failure, '')).toBe(false);
});

test('a refused filter says whose results are shown', () => {
  const refusedWith = (message: string) => new CommandError(2, 'BadValue', message, null);
  expect(wrongWords(refusedWith('unknown operator: $foo'), false)).not.toContain('previous');
  for (const message of ['unknown operator: $foo', 'unknown operator: $foo.'])
    expect(wrongWords(refusedWith(message), true)).toBe(
      'unknown operator: $foo. Showing results of the previous filter.',
    );
});
