import { expect, test } from 'vitest';
import { latency } from './latency';

test.each([
  [null, '–'],
  [0.0000021, '2.1 µs'],
  [0.00124, '1.24 ms'],
  [2.1, '2.1 s'],
])('%s s is %s', (seconds, want) => expect(latency(seconds)).toBe(want));
