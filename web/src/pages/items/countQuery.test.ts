import { expect, test } from 'vitest';
import { countQuery } from './countQuery';

const FROM = 'SELECT VALUE COUNT(1) FROM c';

test.each<[string, string | null]>([
  ['WHERE c.n > 1', `${FROM} WHERE c.n > 1`],
  ['WHERE c.n > 1 ORDER BY c.n DESC', `${FROM} WHERE c.n > 1`],
  ['order\n by c.n', FROM],
  ['JOIN t IN c.tags WHERE t = "x"', `${FROM} JOIN t IN c.tags WHERE t = "x"`],
  ['WHERE c.n > 1 OFFSET 0 LIMIT 3', null],
  ['ORDER BY c.n offset 1 limit 2', null],
  // Clause keywords in names, strings and brackets are ignored.
  ['WHERE c.order = 1 AND c.offset = 2', `${FROM} WHERE c.order = 1 AND c.offset = 2`],
  ['WHERE c.t = "ORDER BY \\" OFFSET"', `${FROM} WHERE c.t = "ORDER BY \\" OFFSET"`],
  ["WHERE c.t = 'LIMIT'", `${FROM} WHERE c.t = 'LIMIT'`],
  ['WHERE c["order"] = 1', `${FROM} WHERE c["order"] = 1`],
  [
    'WHERE EXISTS(SELECT VALUE t FROM t IN c.a OFFSET 0 LIMIT 1)',
    `${FROM} WHERE EXISTS(SELECT VALUE t FROM t IN c.a OFFSET 0 LIMIT 1)`,
  ],
])('%s', (filter, want) => expect(countQuery(filter)).toBe(want));
