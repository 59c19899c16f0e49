import { expect, test } from 'vitest';
import { DEFAULT_POLICY, indexesNothing, policyText, readPolicy } from './policy';

test('the default is sound', () => {
  expect(readPolicy(policyText(undefined))).toEqual({ policy: DEFAULT_POLICY });
});

test.each([
  ['{}'],
  ['{"indexingMode":"none"}'],
  ['{"indexingMode":"Lazy"}'],
  ['{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}'],
  ['{"compositeIndexes":[[{"path":"/a","order":"descending"},{"path":"/b"}]]}'],
  ['{"spatialIndexes":[{"path":"/p/*","types":["Point"]}],"of":"others"}'],
])('%s is sound', (text) => expect(readPolicy(text)).toEqual({ policy: JSON.parse(text) }));

test.each([
  ['[]', /is an object/],
  ['null', /is an object/],
  ['{"indexingMode":"fast"}', /not "fast"/],
  ['{"indexingMode":3}', /not 3/],
  ['{"automatic":"yes"}', /“automatic” is true or false/],
  ['{"includedPaths":{}}', /“includedPaths” is not an array/],
  ['{"includedPaths":["/*"]}', /entry 1: has no string “path”/],
  ['{"excludedPaths":[{"path":"/*"},{"path":"a"}]}', /entry 2: the path “a” does not begin/],
  ['{"includedPaths":[{"path":"/a/?"}]}', /“\/\*” has to be among/],
  ['{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]}', /occurs twice/],
  ['{"compositeIndexes":{}}', /“compositeIndexes” is not an array/],
  ['{"compositeIndexes":[{"path":"/a"}]}', /index 1: is not an array of paths/],
  ['{"compositeIndexes":[[{"path":"/a"}]]}', /2 to 8 paths/],
  ['{"compositeIndexes":[[{"path":"/a","order":"up"},{"path":"/b"}]]}', /“order” is/],
  ['{"indexingMode":"none","includedPaths":[{"path":"/foo"}]}', /no included/],
  ['{"indexingMode":"none","excludedPaths":[{"path":"/*"}]}', /no excluded/],
  ['{"indexingMode":"none","compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}', /no composite/],
])('%s is explained', (text, says) => {
  const read = readPolicy(text);
  expect('problems' in read ? read.problems.join(' ') : '').toMatch(says);
});

test('what is wrong with both paths of an index is said once', () => {
  expect(readPolicy('{"compositeIndexes":[[{"path":""},{"path":""}]]}')).toEqual({
    problems: ['“compositeIndexes”, index 1: an entry has no “path” that begins with “/”.'],
  });
});

test('an error of the JSON names its line', () => {
  const read = readPolicy('{\n  "indexingMode": "none",\n  "automatic": tru\n}');
  expect('problems' in read ? read.problems[0] : '').toMatch(
    /^Line 3, column \d+: this is not JSON/,
  );
  const cut = readPolicy('{\n  "automatic": true');
  expect('problems' in cut ? cut.problems[0] : '').toMatch(/^Line 2, column/);
});

test.each([
  [{ indexingMode: 'None' }, true],
  [{ indexingMode: 'consistent' }, false],
  [undefined, false],
  ['none', false],
])('%j indexes nothing: %s', (policy, want) => expect(indexesNothing(policy)).toBe(want));
