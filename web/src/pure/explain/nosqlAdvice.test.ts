import { expect, test } from 'vitest';
import { type NosqlRun, nosqlAdvice, nosqlPlan } from './nosqlAdvice';
import { nodesOf } from './plan';
import { isIncluded, type Policy } from './policy';

const USER_ONLY: Policy = {
  indexingMode: 'consistent',
  includedPaths: [{ path: '/user/?' }, { path: '/address/*' }],
  excludedPaths: [{ path: '/*' }, { path: '/address/street/?' }],
};

function run(text: string, retrieved = 4540, output = 9, indexes: string[] = []): NosqlRun {
  const metrics = new Map([
    ['retrievedDocumentCount', retrieved],
    ['outputDocumentCount', output],
  ]);
  return { text, metrics, indexes };
}

test.each<[string, boolean]>([
  ['user', true],
  ['user.name', false],
  ['n', false],
  ['address.city', true],
  ['address.street', false],
  ['address.street.no', true],
])('%s is included: %s', (path, want) => expect(isIncluded(USER_ONLY, path.split('.'))).toBe(want));

test('a policy without paths includes all, one without a mode nothing', () => {
  expect(isIncluded({}, ['n'])).toBe(true);
  expect(isIncluded({ indexingMode: 'none' }, ['n'])).toBe(false);
  expect(isIncluded({ includedPaths: [{ path: '/"user"/?' }] }, ['user'])).toBe(true);
});

test.each<[string, string[]]>([
  ['SELECT * FROM c WHERE c.n > 50', ['/n/?']],
  ["SELECT * FROM c WHERE c.user = 'c.x' AND c.a.b = 1 ORDER BY c.n", ['/a/b/?', '/n/?']],
  ['SELECT * FROM items i WHERE i.n = 1 AND c.z = 1', ['/n/?']],
  ['SELECT c.q FROM c WHERE IS_DEFINED(c.n) GROUP BY c.q', ['/n/?']],
])('%s wants %j', (text, include) => {
  const advice = nosqlAdvice(run(text), USER_ONLY);
  expect(advice).toMatchObject({ include, composite: null });
  expect(advice?.sentence).toBe(
    `This query scanned 4,540 documents to return 9. Suggested paths to include: ${include.join(', ')}.`,
  );
});

test.each<[string, NosqlRun]>([
  ['the path is included', run('SELECT * FROM c WHERE c.user = 1')],
  ['few were read', run('SELECT * FROM c WHERE c.n = 1', 99, 1)],
  ['most were returned', run('SELECT * FROM c WHERE c.n = 1', 4540, 4000)],
  ['no condition', run('SELECT * FROM c')],
  ['the server sets it', run('SELECT * FROM c WHERE c._ts > 5')],
])('no advice: %s', (_, given) => expect(nosqlAdvice(given, USER_ONLY)).toBeNull());

test('a sort by several paths needs a composite index, in either direction', () => {
  const text = 'SELECT * FROM c ORDER BY c.user, c.n DESC OFFSET 0 LIMIT 5';
  const composite = [
    { path: '/user', order: 'ascending' as const },
    { path: '/n', order: 'descending' as const },
  ];
  const advice = nosqlAdvice(run(text, 0, 0), USER_ONLY);
  expect(advice?.composite).toEqual(composite);
  expect(advice?.sentence).toMatch(/Suggested index: \/user ascending, \/n descending\.$/);
  const turned = [{ path: '/user', order: 'descending' }, { path: '/n' }];
  for (const compositeIndexes of [[composite], [turned]]) {
    expect(nosqlAdvice(run(text, 0, 0), { ...USER_ONLY, compositeIndexes })).toBeNull();
  }
});

test('a run is a tree', () => {
  const plan = nosqlPlan(run('', 12, 9, ['/n/?']));
  expect(plan).toMatchObject({ stage: 'Query', returned: 9 });
  expect(plan.children[0]).toMatchObject({ stage: 'Read by index', documentsExamined: 12 });
  expect(plan.children[0]?.children[0]).toMatchObject({ index: '/n/?' });
  expect(nosqlPlan(run('')).children[0]?.stage).toBe('Read all');
});

/** Returns the stages of a plan from its root, with their indexes. */
function stagesOf(given: NosqlRun): string[] {
  return nodesOf(nosqlPlan(given)).map(({ stage, index }) =>
    index === null ? stage : `${stage} (${index})`,
  );
}

test('an order is a node, with the index that serves it', () => {
  const text = 'SELECT * FROM c WHERE c.n > 1 ORDER BY c.since DESC';
  expect(stagesOf(run(text))).toEqual(['Query', 'Sort by /since descending', 'Read all']);
  expect(stagesOf(run(text, 9, 9, ['/n/?', '/since/?']))).toEqual([
    'Query',
    'Order by index: /since descending (/since/?)',
    'Read by index',
    'Index (/n/?)',
    'Index (/since/?)',
  ]);
  const two = 'SELECT * FROM c ORDER BY c.a, c.b DESC OFFSET 0 LIMIT 1';
  expect(stagesOf(run(two, 9, 9, ['/a ASC', '/b DESC']))[1]).toBe(
    'Order by index: /a ascending, /b descending (/a ASC, /b DESC)',
  );
  expect(stagesOf(run('SELECT * FROM c ORDER BY RANK Score(c.x)'))[1]).toMatch(/^Sort/);
  expect(stagesOf(run("SELECT * FROM c WHERE c.x = 'ORDER BY c.n'"))).toEqual([
    'Query',
    'Read all',
  ]);
});
