import { Int32 } from 'bson';
import { expect, test } from 'vitest';
import type { Row } from '../../source';
import { readChange, UNTYPED, usualType } from './typed';

const nosql = { api: 'nosql', idField: 'id', keys: ['/tenant'] } as const;
const mongo = { api: 'mongo', idField: '_id', keys: [] } as const;

const row = (value: Row['value']): Row => ({
  ...{ key: 'k', name: 'k', value, ref: null },
  expiry: { expiresAtMs: null, by: null, reason: null },
});

test('the type that most have is kept', () => {
  const rows = [row({ a: 1 }), row({ a: 2 }), row({ a: 'x' }), row({ a: null }), row({})];
  expect(usualType(rows, 'a', 'nosql')).toBe('number');
  expect(usualType([row({ a: new Int32(1) }), row({ a: [1] }), row({ a: {} })], 'a', 'mongo')).toBe(
    'object',
  );
  expect(usualType(rows, 'none', 'nosql')).toBe('string');
});

test('what is typed is read as a value of its type', () => {
  const set = (text: string) => ({ ...UNTYPED, path: 'a.b', text });
  const path = ['a', 'b'];
  expect(readChange(set('5'), 'string', nosql)).toEqual({
    change: { does: 'set', path, value: '5' },
  });
  expect(readChange(set('5'), 'int', mongo)).toEqual({
    change: { does: 'set', path, value: new Int32(5) },
  });
  expect(readChange(set('[1, {"x": true}]'), 'object', nosql)).toEqual({
    change: { does: 'set', path, value: [1, { x: true }] },
  });
  expect(readChange(set(''), 'string', mongo)).toEqual({
    change: { does: 'set', path, value: '' },
  });
});

test('what is wrong is said where it is, and nothing of what is not typed yet', () => {
  expect(readChange(UNTYPED, 'number', nosql)).toEqual({ wrong: { path: '', text: '' } });
  expect(readChange({ ...UNTYPED, path: 'tenant', text: '1.' }, 'number', nosql)).toEqual({
    wrong: { path: expect.stringMatching(/partition key/) as string },
  });
  expect(readChange({ ...UNTYPED, path: 'a', text: 'x' }, 'number', nosql)).toEqual({
    wrong: { text: expect.stringMatching(/number/) as string },
  });
  expect(
    readChange({ ...UNTYPED, path: 'a', text: '[9007199254740993]' }, 'object', nosql),
  ).toEqual({
    wrong: { text: expect.stringMatching(/too many digits/) as string },
  });
  expect(readChange({ ...UNTYPED, path: 'a', does: 'rename', to: 'id' }, 'string', nosql)).toEqual({
    wrong: { to: expect.stringMatching(/cannot be changed/) as string },
  });
});
