import { expect, test } from 'vitest';
import { DEFAULT_POLICY, policyText, readPolicy } from './policy';
import { formOf, pathProblem, withForm, withMode } from './policyForm';

const text = policyText(DEFAULT_POLICY);
const form = () => {
  const found = formOf(text);
  if (found === null) throw new Error('the default has no form');
  return found;
};

test('a policy comes back out of its form as it was', () => {
  expect(JSON.parse(withForm(text, form()))).toEqual(DEFAULT_POLICY);
  const rich = {
    indexingMode: 'Consistent',
    includedPaths: [{ path: '/a/?', indexes: [{ kind: 'Range' }] }],
    excludedPaths: [{ path: '/*' }],
    compositeIndexes: [[{ path: '/a', order: 'descending' }, { path: '/b' }]],
    vectorIndexes: [{ path: '/v', type: 'flat' }],
  };
  const read = formOf(JSON.stringify(rich));
  expect(read?.composites).toEqual([
    [
      { path: '/a', order: 'descending' },
      { path: '/b', order: 'ascending' },
    ],
  ]);
  const back = JSON.parse(withForm(JSON.stringify(rich), read ?? form())) as typeof rich;
  expect(back.includedPaths).toEqual(rich.includedPaths);
  expect(back.vectorIndexes).toEqual(rich.vectorIndexes);
});

test('none has no paths, and what had none gets all of them back', () => {
  const bare = withForm(text, withMode(form(), 'none'));
  const none = {
    indexingMode: 'none',
    automatic: false,
    includedPaths: [],
    excludedPaths: [],
  };
  expect(JSON.parse(bare)).toEqual(none);
  expect(readPolicy(bare)).toEqual({ policy: none });
  const again = formOf(bare);
  expect(JSON.parse(withForm(bare, withMode(again ?? form(), 'consistent')))).toEqual(
    DEFAULT_POLICY,
  );
});

test.each(['{', '[]', '{"includedPaths":["/*"]}', '{"indexingMode":"fast"}'])(
  '%s has no form',
  (wrong) => expect(formOf(wrong)).toBeNull(),
);

test.each([
  ['/*', false, null],
  ['/', false, null],
  ['/a/b/?', false, null],
  ['/a/[]/b/*', false, null],
  ['/"a/b c"/?', false, null],
  ['/a/b', true, null],
  ['', false, /Enter/],
  ['a', false, /begins/],
  ['/a//b', false, /Each part/],
  ['/a*', false, /Each part/],
  ['/*/a', false, /Each part/],
  ['/a/', false, /does not end/],
  ['/a/?', true, /ends with a name/],
  ['/a/[]', true, /ends with a name/],
])('%j (composite: %j)', (path, isComposite, says) => {
  const found = pathProblem(path, isComposite);
  if (says === null) expect(found).toBeNull();
  else expect(found).toMatch(says);
});
