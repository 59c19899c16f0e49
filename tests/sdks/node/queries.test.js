// Queries: as the gateway answers them, with a plan, and in pages that another client takes up.
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { setup, connect, bare, ids, query, refused, clock, expected, texts } = require('./setup');

const people = [
  {
    id: '1',
    pk: 'a',
    name: 'Ada',
    age: 36,
    city: 'London',
    tags: ['x', 'y'],
    pets: [{ n: 'cat', age: 2 }],
  },
  { id: '2', pk: 'a', name: 'Bob', age: 25, city: 'Paris', tags: ['y'], pets: [] },
  { id: '3', pk: 'a', name: 'Cyd', age: 25, city: 'London', tags: [] },
  {
    id: '4',
    pk: 'b',
    name: 'Dan',
    age: 61,
    city: 'Paris',
    pets: [
      { n: 'dog', age: 7 },
      { n: 'cat', age: 1 },
    ],
  },
  { id: '5', pk: 'b', name: 'Eve', age: null, city: 'Rome' },
  { id: '6', pk: 'c', name: 'fay', city: 'Rome', nested: { deep: [1, 2, 3] } },
];
let container;
let many;
const at = setup(async ({ make }) => {
  container = await make({ id: 'people' });
  for (const person of people) await container.items.create(person);
  many = await make({ id: 'many' });
  for (let n = 0; n < 25; n += 1)
    await many.items.create({ id: `${n}`, pk: `${n % 3}`, n, same: n % 2, tags: ['x'] });
});

const order = (values) =>
  [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const anyOrder = [
  ['SELECT VALUE c.id FROM c WHERE c.age = 25', ['2', '3']],
  ['SELECT VALUE c.id FROM c WHERE c.age > 25 AND c.age <= 61', ['1', '4']],
  ["SELECT VALUE c.id FROM c WHERE c.city IN ('Rome') OR c.name = 'Ada'", ['1', '5', '6']],
  ['SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.age)', ['6']],
  ['SELECT VALUE c.id FROM c WHERE c.age = null', ['5']],
  ["SELECT VALUE c.id FROM c WHERE c.name LIKE '%d%'", ['1', '3']],
  ["SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'y')", ['1', '2']],
  [
    'SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE p FROM p IN c.pets WHERE p.age > 1)',
    ['1', '4'],
  ],
  [
    "SELECT c.id, p.n FROM c JOIN p IN c.pets WHERE p.n = 'cat'",
    [
      { id: '1', n: 'cat' },
      { id: '4', n: 'cat' },
    ],
  ],
  ["SELECT VALUE c.age ?? -1 FROM c WHERE c.pk = 'c'", [-1]],
  ['SELECT DISTINCT VALUE c.city FROM c', ['London', 'Paris', 'Rome']],
  ['SELECT DISTINCT c.city FROM c', [{ city: 'London' }, { city: 'Paris' }, { city: 'Rome' }]],
  ['SELECT VALUE COUNT(1) FROM c', [6]],
  ["SELECT VALUE COUNT(1) FROM c WHERE c.city = 'Oslo'", [0]],
  ["SELECT VALUE SUM(c.age) FROM c WHERE c.pk = 'a'", [86]],
  ['SELECT VALUE MIN(c.name) FROM c', ['Ada']],
  ['SELECT VALUE MAX(c.age) FROM c WHERE IS_NUMBER(c.age)', [61]],
  ['SELECT VALUE AVG(c.age) FROM c WHERE c.age = 25', [25]],
  [
    'SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city',
    [
      { city: 'London', n: 2 },
      { city: 'Paris', n: 2 },
      { city: 'Rome', n: 2 },
    ],
  ],
  [
    "SELECT c.city, MAX(c.age) AS most, AVG(c.age) AS mean FROM c WHERE c.pk = 'a' GROUP BY c.city",
    [
      { city: 'London', most: 36, mean: 30.5 },
      { city: 'Paris', most: 25, mean: 25 },
    ],
  ],
  ['SELECT * FROM c WHERE false', []],
];
const inOrder = [
  ['SELECT VALUE c.id FROM c ORDER BY c.name', ['1', '2', '3', '4', '5', '6']],
  ['SELECT VALUE c.id FROM c ORDER BY c.name DESC', ['6', '5', '4', '3', '2', '1']],
  ['SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id', ['1', '2']],
  ['SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 2 LIMIT 3', ['3', '4', '5']],
  ['SELECT VALUE c.name FROM c WHERE c.age >= 36 ORDER BY c.age DESC', ['Dan', 'Ada']],
];

for (const [how, options] of [
  ['at the gateway', {}],
  ['with a plan', { forceQueryPlan: true }],
]) {
  for (const [text, expected] of anyOrder) {
    test(`${how}: ${text}`, async () => {
      assert.deepEqual(order(await query(container, text, {}, options)), order(expected));
    });
  }
  for (const [text, expected] of inOrder) {
    test(`${how}: ${text}`, async () => {
      assert.deepEqual(await query(container, text, {}, options), expected);
    });
  }
  test(`${how}: parameters`, async () => {
    const text = 'SELECT * FROM c WHERE c.city = @city ORDER BY c.id';
    assert.deepEqual(ids(await query(container, text, { '@city': 'Paris' }, options)), ['2', '4']);
    assert.deepEqual(ids(await query(container, text, { '@city': null }, options)), []);
    const list = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)';
    assert.deepEqual(ids(await query(container, list, { '@ids': ['2', '6'] }, options)), [
      '2',
      '6',
    ]);
  });
}

test('a query in one partition', async () => {
  assert.deepEqual(ids(await query(container, 'SELECT * FROM c', {}, { partitionKey: 'a' })), [
    '1',
    '2',
    '3',
  ]);
  assert.deepEqual(
    await query(container, 'SELECT VALUE COUNT(1) FROM c', {}, { partitionKey: 'b' }),
    [2],
  );
  assert.deepEqual(await query(container, 'SELECT * FROM c', {}, { partitionKey: 'none' }), []);
});

test('whole items', async () => {
  const [found] = await query(container, "SELECT * FROM c WHERE c.id = '4'");
  assert.deepEqual(bare(found), people[3]);
  assert.deepEqual(found, (await container.item('4', 'b').read()).resource);
  assert.deepEqual((await container.items.readAll().fetchAll()).resources.length, 6);
});

test('several orders need a composite index', async () => {
  const compositeIndexes = [
    [
      { path: '/a', order: 'ascending' },
      { path: '/b', order: 'descending' },
    ],
  ];
  const indexed = await at.make({
    indexingPolicy: { includedPaths: [{ path: '/*' }], compositeIndexes },
  });
  for (const [n, [a, b]] of [
    [1, 1],
    [2, 1],
    [1, 2],
    [2, 2],
  ].entries()) {
    await indexed.items.create({ id: `${n}`, pk: `${n}`, a, b });
  }
  const text = 'SELECT VALUE c.id FROM c ORDER BY c.a, c.b DESC';
  assert.deepEqual(await query(indexed, text), ['2', '0', '3', '1']);
  assert.deepEqual(await query(indexed, text, {}, { forceQueryPlan: true }), ['2', '0', '3', '1']);
  await refused(
    query(indexed, 'SELECT VALUE c.id FROM c ORDER BY c.a, c.b'),
    400,
    texts.compositeIndexMissing,
  );
});

for (const [text, message] of [
  ['SELECT * FRM c', texts.syntaxError],
  ['SELECT * FROM c WHERE', 'Syntax error, unexpected end-of-file.'],
  ['SELECT x.id FROM c', "Identifier 'x' could not be resolved."],
  ['SELECT NOSUCH(c.id) FROM c', "'NOSUCH' is not a recognized built-in function name."],
]) {
  test(`refused: ${text}`, () => refused(query(container, text), 400, message));
}

test('the plan itself', async () => {
  const { result } = await container.getQueryPlan('SELECT VALUE COUNT(1) FROM c');
  assert.deepEqual(result.queryInfo.aggregates, ['Count']);
  assert.deepEqual(result.queryRanges, [
    { min: '', max: 'FF', isMinInclusive: true, isMaxInclusive: false },
  ]);
  const ordered = (
    await container.getQueryPlan('SELECT DISTINCT TOP 5 c.n FROM c ORDER BY c.n DESC')
  ).result.queryInfo;
  assert.deepEqual(ordered.orderBy, ['Descending']);
  assert.deepEqual(ordered.orderByExpressions, ['c.n']);
  assert.equal(ordered.top, 5);
  assert.equal(ordered.distinctType, 'Unordered');
  const values = 'SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n';
  const plan = (await container.getQueryPlan(values)).result.queryInfo;
  assert.equal(plan.distinctType, 'Ordered');
});

const paged = {
  plain: 'SELECT VALUE c.n FROM c',
  filter: 'SELECT VALUE c.n FROM c WHERE c.n >= 0',
  order: 'SELECT VALUE c.n FROM c ORDER BY c.n',
  'by a value that many have': 'SELECT VALUE c.n FROM c ORDER BY c.same',
  join: 'SELECT VALUE c.n FROM c JOIN t IN c.tags',
};
const all = [...Array(25).keys()];
const ascending = (values) => [...values].sort((a, b) => a - b);

for (const [name, text] of Object.entries(paged)) {
  test(`pages: ${name}`, async () => {
    const pages = [];
    for await (const page of many.items.query(text, { maxItemCount: 10 }).getAsyncIterator())
      pages.push(page.resources);
    assert.ok(pages.every((page) => page.length <= 10));
    assert.deepEqual(ascending(pages.flat()), all);
    if (name === 'order') assert.deepEqual(pages.flat(), all);
  });

  test(`pages that another client goes on with: ${name}`, async () => {
    const other = connect().database(at.db.id).container('many');
    const found = [];
    let continuationToken;
    for (const turn of [many, other, many, other, many, other]) {
      const page = await turn.items.query(text, { maxItemCount: 6, continuationToken }).fetchNext();
      found.push(...page.resources);
      ({ continuationToken } = page);
      if (continuationToken === undefined) break;
    }
    assert.deepEqual(ascending(found), all);
    assert.equal(continuationToken, undefined);
  });
}

for (const text of [paged.plain, paged.order]) {
  test(`with query control: ${text}`, async () => {
    const found = [];
    const iterator = many.items.query(text, { maxItemCount: 7, enableQueryControl: true });
    while (iterator.hasMoreResults()) {
      const { resources } = await iterator.fetchNext();
      assert.ok((resources ?? []).length <= 7);
      found.push(...(resources ?? []));
    }
    assert.deepEqual(ascending(found), all);
  });
}

test('with a plan in pages', async () => {
  const found = [];
  for await (const page of many.items
    .query(paged.order, { maxItemCount: 4, forceQueryPlan: true })
    .getAsyncIterator()) {
    found.push(...(page.resources ?? []));
  }
  assert.deepEqual(found, all);
});

test('items that die between pages', async () => {
  const dying = await at.make({ defaultTtl: 10 });
  for (const n of [0, 1, 2, 3])
    await dying.items.create({ id: `${n}`, pk: 'a', n, ttl: n === 3 ? -1 : 10 });
  const iterator = dying.items.query('SELECT VALUE c.n FROM c ORDER BY c.n', { maxItemCount: 2 });
  assert.deepEqual((await iterator.fetchNext()).resources, [0, 1]);
  await clock.advance(10);
  assert.deepEqual(
    (await iterator.fetchAll()).resources.filter((n) => n > 1),
    [3],
  );
});

/** Sorted by values that many items have: each page is read by a new iterator. */
for (const text of expected.tiedPages.queries) {
  test(`pages over ties: ${text}`, async () => {
    const { items, pageSize, diesAfter, compositeIndex } = expected.tiedPages;
    const indexingPolicy = {
      includedPaths: [{ path: '/*' }],
      compositeIndexes: [compositeIndex],
    };
    const tied = await at.make({ defaultTtl: -1, indexingPolicy });
    for (let n = 0; n < items; n += 1) {
      const ttl = n % 5 === 4 ? diesAfter : -1;
      await tied.items.create({ id: `${n}`, pk: `k${n % 7}`, n, same: n % 3, odd: n % 2, ttl });
    }
    const pages = async (between = async () => {}) => {
      const found = [];
      let continuationToken;
      do {
        const options = { maxItemCount: pageSize, continuationToken };
        const page = await tied.items.query(text, options).fetchNext();
        found.push(page.resources);
        ({ continuationToken } = page);
        await between(found.length);
      } while (continuationToken !== undefined);
      return found;
    };
    assert.deepEqual((await pages()).flat(), await query(tied, text));
    const found = await pages(async (count) => {
      if (count === 2) await clock.advance(diesAfter);
    });
    const seen = found.flat();
    assert.equal(new Set(seen).size, seen.length, 'none twice');
    assert.deepEqual(
      seen.filter((n) => n % 5 !== 4),
      await query(tied, text),
      'none lost',
    );
    assert.ok(
      found
        .slice(2)
        .flat()
        .every((n) => n % 5 !== 4),
      'none that has expired',
    );
  });
}

test('a damaged token is refused', async () => {
  for (const continuationToken of ['damaged', 'e30=', 'x'.repeat(3000)]) {
    await refused(
      many.items.query('SELECT * FROM c', { maxItemCount: 5, continuationToken }).fetchNext(),
      400,
    );
  }
});

test('metrics', async () => {
  const { headers } = await container.items
    .query('SELECT * FROM c', { populateQueryMetrics: true })
    .fetchNext();
  assert.match(JSON.stringify(headers['x-ms-documentdb-query-metrics']), /\w/);
});
