import { expect, test } from 'vitest';
import { completedFilter } from './nosqlFilter';

test.each([
  ['', ''],
  ['  ', ''],
  ['WHERE c.n = 1', 'WHERE c.n = 1'],
  ['order  by c.n', 'order  by c.n'],
  ['JOIN t IN c.tags WHERE t = "a"', 'JOIN t IN c.tags WHERE t = "a"'],
  ['OFFSET 1 LIMIT 2', 'OFFSET 1 LIMIT 2'],
  ['p80', 'WHERE c.id = "p80"'],
  ['80', 'WHERE c.id = "80"'],
  ['a-b_c', 'WHERE c.id = "a-b_c"'],
  ['"with space"', 'WHERE c.id = "with space"'],
  ["'it'", "WHERE c.id = 'it'"],
  ['orders', 'WHERE c.id = "orders"'],
  ['c.user = "u1"', 'WHERE c.user = "u1"'],
  ['c.done', 'WHERE c.done'],
  ['NOT c.done', 'WHERE NOT c.done'],
  ['SELECT * FROM c', ''],
  ['select  * from c where c.vip', 'where c.vip'],
  ['SELECT * FROM c ORDER BY c.n', 'ORDER BY c.n'],
  ['IS_DEFINED(c.n)', 'WHERE IS_DEFINED(c.n)'],
  ['true', 'WHERE true'],
  ['x WHERE c.n = 1', 'WHERE x WHERE c.n = 1'],
  ['-- everything', 'WHERE -- everything'],
])('%j is %j', (typed, want) => {
  expect(completedFilter(typed)).toBe(want);
  expect(completedFilter(want)).toBe(want);
});
