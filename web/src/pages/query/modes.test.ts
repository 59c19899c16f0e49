import { expect, test } from 'vitest';
import { EMPTY, type MongoForm } from './command';
import { findOfPipeline, inMode, pipelineOfFind } from './modes';

const FIND = {
  filter: '{ a: 1 }',
  sort: '{ a: -1 }',
  skip: '5',
  limit: '10',
  projection: '{ a: 1 }',
};
const PIPELINE =
  '[\n  { $match: { a: 1 } },\n  { $sort: { a: -1 } },\n  { $skip: 5 },\n  { $limit: 10 },\n  { $project: { a: 1 } }\n]';

test('a find becomes the pipeline that asks the same, and that becomes the find again', () => {
  expect(pipelineOfFind(FIND)).toBe(PIPELINE);
  expect(findOfPipeline(PIPELINE)).toEqual(FIND);
});

test.each<[Partial<MongoForm>, string]>([
  [{}, EMPTY.pipeline],
  [{ sort: ' ', limit: '0', filter: '' }, EMPTY.pipeline],
  [{ filter: '{ a: 1 } // one' }, '[\n  { $match: { a: 1 } // one\n  }\n]'],
  [{ filter: '{ a: 1 };' }, '[\n  { $match: { a: 1 } }\n]'],
])('%j becomes %s', (fields, text) => {
  expect(pipelineOfFind({ ...EMPTY, ...fields })).toBe(text);
  expect(findOfPipeline(text)).not.toBeNull();
});

test.each([
  '[{ $group: { _id: 1 } }]',
  '[{ $limit: 1 }, { $skip: 1 }]',
  '[{ $match: {} }, { $match: {} }]',
  '[/* { $match: {} } */]',
  '[{ $limit: NumberLong("1") }]',
  '[{ $limit: 0 }]',
  '[{ $match: {}, $sort: {} }]',
  '[{',
])('%s is no find', (text) => expect(findOfPipeline(text)).toBeNull());

const form = (fields: Partial<MongoForm>): MongoForm => ({ ...EMPTY, ...fields });

test('from find to pipeline and back', () => {
  const there = inMode(form(FIND), 'pipeline');
  expect(there).toEqual({
    form: form({ ...FIND, mode: 'pipeline', pipeline: PIPELINE }),
    kept: false,
  });
  const changed = { ...there.form, pipeline: '[{ $match: { b: 2 } /* two */ }]' };
  const back = inMode(changed, 'filter');
  expect(back.form).toEqual(form({ filter: '{ b: 2 }', pipeline: changed.pipeline }));
  // If the meaning is unchanged, the original text is kept.
  expect(inMode(back.form, 'pipeline').form.pipeline).toBe(changed.pipeline);
});

test('what the other side cannot say stays', () => {
  const own = '[{ $group: { _id: "$a" } }]';
  expect(inMode(form({ filter: '{ a: 1 }', pipeline: own }), 'pipeline')).toEqual({
    form: form({ filter: '{ a: 1 }', pipeline: own, mode: 'pipeline' }),
    kept: true,
  });
  expect(inMode(form({ pipeline: own }), 'pipeline').kept).toBe(false);
  const back = inMode(form({ filter: '{ a: 1 }', pipeline: own, mode: 'pipeline' }), 'filter');
  expect(back.form.filter).toBe('{ a: 1 }');
  const untouched = inMode(form({ filter: '{ a: 1 }', mode: 'pipeline' }), 'filter');
  expect(untouched.form.filter).toBe('{ a: 1 }');
  const line = form({ filter: 'db.c.find()' });
  expect(inMode(line, 'pipeline').form).toEqual({ ...line, mode: 'pipeline' });
});
