import { expect, test } from 'vitest';
import { STAGES } from '../../../pure/completion/mongoWords';
import { readPipeline } from '../../../pure/shell/stages';
import { operatorOf, TEMPLATES } from './templates';
import { writesUpTo } from './writing';

test.each(TEMPLATES)('%s is a stage that the server knows and that writes nothing', (template) => {
  const read = readPipeline(`[${template}]`);
  if ('error' in read) throw new Error(read.error);
  expect(read.stages.map(({ operator }) => operator)).toEqual([operatorOf(template)]);
  expect(STAGES).toContain(operatorOf(template));
  expect(writesUpTo(read, 0)).toBe(false);
});

test.each<[string, boolean[]]>([
  ['[{ $match: { $out: 1 } }, { $out: "x" }]', [false, true]],
  ['[{ $merge: { into: "x" } }, { $limit: 1 }]', [true, true]],
  ['[/* { $out: "x" } */ { $limit: 1 }]', [false, false]],
  ['[{ $limit: 1, $out: "x" }]', [true]],
  ['[{ "$out": "x" }]', [true]],
])('%s writes up to each stage: %j', (text, want) => {
  const read = readPipeline(text);
  if ('error' in read) throw new Error(read.error);
  expect(want.map((_, at) => writesUpTo(read, at))).toEqual(want);
});
