import { expect, test } from 'vitest';
import { bytes, counted } from './amount';

test.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.0 KB'],
  [10_240, '10 KB'],
  [5_452_595, '5.2 MB'],
])('%i bytes', (value, want) => expect(bytes(value)).toBe(want));

test('counts carry separators', () => {
  expect(counted(12_431, 'item')).toBe('12,431 items');
  expect(counted(1, 'item')).toBe('1 item');
});
