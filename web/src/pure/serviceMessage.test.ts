import { expect, test } from 'vitest';
import { plainMessage } from './serviceMessage';

test.each([
  ['plain', 'plain'],
  ['Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found', 'Resource Not Found.'],
  [
    'Message: {"Errors":["Resource Not Found. Learn more: https://aka.ms/x-y"]}',
    'Resource Not Found.',
  ],
  ['Learn more: https://example.org', 'Learn more: https://example.org'],
  ['Message: {"Errors":["a","b"]}', 'a b'],
  [
    'Message: {"errors":[{"severity":"Error","message":"near \'}\'"}]}\r\nActivityId: x',
    "near '}'",
  ],
  ['{"errors":[]}', '{"errors":[]}'],
  ['{"errors":[null]}', '{"errors":[null]}'],
  ['{ no JSON }', '{ no JSON }'],
])('%s', (message, want) => expect(plainMessage(message)).toBe(want));
