import { Double, Int32 } from 'bson';
import { expect, test } from 'vitest';
import { mongoAdvice } from './mongoAdvice';
import { explainedPlan, nodesOf } from './plan';

const SCAN = { stage: 'COLLSCAN', direction: 'forward', docsExamined: new Int32(4540) };

function answer(command: object, returned = 5, stages: object = SCAN, examined = 4540) {
  return {
    explainVersion: '1',
    queryPlanner: { winningPlan: stages },
    executionStats: {
      nReturned: new Int32(returned),
      executionTimeMillis: new Int32(3),
      totalKeysExamined: new Int32(0),
      totalDocsExamined: new Int32(examined),
      executionStages: { ...stages, nReturned: new Int32(returned) },
    },
    command,
    ok: new Double(1),
  };
}

const index = (keyPattern: object) => ({
  stage: 'LIMIT',
  inputStage: {
    stage: 'FETCH',
    docsExamined: new Int32(51),
    inputStage: { stage: 'IXSCAN', keyPattern, indexName: 'x', keysExamined: new Int32(51) },
  },
});

test('a plan is a tree with what each stage examined', () => {
  const explained = explainedPlan(answer({ find: 's' }, 5, index({ n: new Int32(1) }), 51));
  expect(explained).toMatchObject({ documentsExamined: 51, keysExamined: 0, returned: 5, ms: 3 });
  expect(nodesOf(explained.root).map(({ stage }) => stage)).toEqual(['LIMIT', 'FETCH', 'IXSCAN']);
  expect(explained.root).toMatchObject({ returned: 5, documentsExamined: null });
  expect(nodesOf(explained.root)[2]).toMatchObject({
    index: 'x',
    keys: '{ n: 1 }',
    keysExamined: 51,
  });
});

test('a plan without figures, several inputs, and no plan', () => {
  const planned = { queryPlanner: { winningPlan: { stage: 'IDHACK' } } };
  expect(explainedPlan(planned)).toMatchObject({ root: { index: '_id_' }, returned: null });
  const or = { queryPlanner: { winningPlan: { stage: 'OR', inputStages: [SCAN, SCAN] } } };
  expect(explainedPlan(or).root?.children).toHaveLength(2);
  expect(explainedPlan(null).root).toBeNull();
});

test.each<[object, string]>([
  [{ find: 's', filter: { 'address.city': 'Rome' } }, '{ "address.city": 1 }'],
  [
    { find: 's', filter: { n: { $gt: 1 }, user: 'a', k: { $in: [1] } }, sort: { at: -1 } },
    '{ user: 1, k: 1, at: -1, n: 1 }',
  ],
  [{ find: 's', filter: { $and: [{ a: 1 }, { b: { $lt: 2 } }] } }, '{ a: 1, b: 1 }'],
  [{ count: 's', query: { a: { $eq: 1 } } }, '{ a: 1 }'],
  [{ aggregate: 's', pipeline: [{ $match: { a: 1 } }, { $sort: { b: 1 } }] }, '{ a: 1, b: 1 }'],
  [{ aggregate: 's', pipeline: [{ $match: { a: { b: 1 } } }, { $group: {} }] }, '{ a: 1 }'],
  [{ find: 's', filter: {}, sort: { n: 1 } }, '{ n: 1 }'],
])('%j wants %s', (command, shown) => {
  const advice = mongoAdvice(answer(command));
  expect(advice).toMatchObject({ shown, collection: 's' });
  expect(advice?.sentence).toBe(
    `This query scanned 4,540 documents to return 5. Suggested index: ${shown}.`,
  );
});

test('an index has the name that MongoDB gives it', () => {
  const advice = mongoAdvice(answer({ find: 's', filter: { 'a.b': 1 }, sort: { c: -1 } }));
  expect(advice).toMatchObject({ name: 'a.b_1_c_-1', key: { 'a.b': 1, c: -1 } });
});

test.each<[string, unknown]>([
  ['few documents', answer({ find: 's', filter: { a: 1 } }, 1, SCAN, 99)],
  ['most are returned', answer({ find: 's', filter: { a: 1 } }, 1000)],
  ['alternatives', answer({ find: 's', filter: { $or: [{ a: 1 }, { b: 1 }] } })],
  ['no field', answer({ find: 's', filter: { a: { $ne: 1 } } })],
  ['nothing asked', answer({ find: 's' })],
  ['its id', answer({ find: 's', filter: { _id: 1, a: 2 } })],
  ['the index is there', answer({ find: 's', filter: { n: 1 } }, 5, index({ n: 1, k: 1 }))],
  ['it is there backwards', answer({ find: 's', sort: { n: 1 } }, 5, index({ n: -1 }))],
  ['no figures', { command: { find: 's', filter: { a: 1 } } }],
  ['no answer', undefined],
])('no advice: %s', (_, given) => expect(mongoAdvice(given)).toBeNull());
