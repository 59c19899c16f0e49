import { expect, test } from 'vitest';
import { plainMessage } from './service-message';

test.each([
  ['plain', 'plain'],
  ['Message: {"Errors":["a","b"]}', 'a b'],
  ['Message: {"errors":[{"severity":"Error","message":"near \'}\'"}]}\r\nActivityId: x', "near '}'"],
  ['{"errors":[]}', '{"errors":[]}'],
  ['{"errors":[null]}', '{"errors":[null]}'],
  ['{ no JSON }', '{ no JSON }'],
])('%s', (message, want) => expect(plainMessage(message)).toBe(want));
