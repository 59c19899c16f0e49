import { expect, test } from 'vitest';
import { numbers } from '../testing/random';
import { parseShell } from '.';
import { added, moved, switched } from './editing';
import { pipelineText, readPipeline } from './stages';

function stagesOf(text: string) {
  const read = readPipeline(text);
  if ('error' in read) throw new Error(`${read.error} at ${read.at}: ${text}`);
  return read.stages;
}

const shown = (text: string) =>
  stagesOf(text).map(({ operator, body, isOff }) => `${isOff ? '-' : '+'}${operator} ${body}`);

test.each<[string, string[]]>([
  ['[]', []],
  [' [ ] ; ', []],
  ['[{ $match: { a: 1 } }, {$limit:5,},]', ['+$match { a: 1 }', '+$limit 5']],
  ['[{ "$sort": { a: -1 } /* why */ } // last\n]', ['+$sort { a: -1 }']],
  ['[/* { $skip: 1 }, */ { $limit: 2 }]', ['-$skip 1', '+$limit 2']],
  ['[\n  // { $skip: 1 },\n  // { $limit: 2 },\n  // some words\n]', ['-$skip 1', '-$limit 2']],
  [
    '[\n  // {\n  //   $match: { a: 1 }\n  // },\n  {$limit: 1}\n]',
    ['-$match { a: 1 }', '+$limit 1'],
  ],
  ['[{$match: {t: "/* { $skip: 1 } */"}}]', ['+$match {t: "/* { $skip: 1 } */"}']],
  ['[/* { $skip: 1 }, { $limit: 1 } */]', []],
  ['[/* first { $skip: 1 } */ 7, { a: 1, b: 2 }]', ['+ 7', '+ { a: 1, b: 2 }']],
])('the stages of %j', (text, want) => expect(shown(text)).toEqual(want));

test.each([
  ['{ $match: {} }', 0],
  ['[{ $match: {} }', 15],
  ['[{ $match: {} } { $limit: 1 }]', 16],
  ['[{ $match: {a: } }]', 15],
  ['[] x', 3],
])('%j is no pipeline', (text, at) => expect(readPipeline(text)).toMatchObject({ at }));

test('what runs, up to a stage', () => {
  const text = '[{ $match: {} }, /* { $skip: 1 } */ { $limit: 2 }]';
  const read = readPipeline(text);
  if ('error' in read) throw new Error(read.error);
  expect(pipelineText(read)).toBe('[\n  { $match: {} },\n  { $limit: 2 }\n]');
  expect(pipelineText(read, 1)).toBe('[\n  { $match: {} }\n]');
  expect(pipelineText(read, -1)).toBe('[]');
});

const COMMENTED =
  '[ // mine\n  { $match: { a: 1 } }, // first\n  {$sort:{a:-1}},\n  { $limit: 5 }\n]';

test.each<[string, string | object, string]>([
  [
    'switched off in the middle',
    switched(COMMENTED, 1, true),
    '[ // mine\n  { $match: { a: 1 } }, // first\n  /* {$sort:{a:-1}} */\n  { $limit: 5 }\n]',
  ],
  [
    'switched off at the end',
    switched('[{ $match: {} }, { $limit: 5 }]', 1, true),
    '[{ $match: {} }, /* { $limit: 5 } */]',
  ],
  ['switched off alone', switched('[{ $limit: 5 }]', 0, true), '[/* { $limit: 5 } */]'],
  [
    'a comment in it',
    switched('[{ $limit: 5 /* few */ }]', 0, true),
    '[// { $limit: 5 /* few */ }\n]',
  ],
  [
    'switched on',
    switched('[{ $match: {} } /* { $limit: 5 } */]', 1, false),
    '[{ $match: {} }, { $limit: 5 }]',
  ],
  [
    'switched on from lines',
    switched('[\n  // { $skip: 1 },\n  // note\n  { $limit: 5 }\n]', 0, false),
    '[\n  { $skip: 1 },\n  // note\n  { $limit: 5 }\n]',
  ],
  [
    'switched on with words behind it',
    switched('[\n  // { $skip: 1 }, // first, then\n  { $limit: 5 }\n]', 0, false),
    '[\n  { $skip: 1 }, // first, then\n  { $limit: 5 }\n]',
  ],
  [
    'switched on with words behind it in a block',
    switched('[/* { $skip: 1 } // few */ { $limit: 5 }]', 0, false),
    '[{ $skip: 1 }, // few\n { $limit: 5 }]',
  ],
  [
    'moved up',
    moved(COMMENTED, 2, -1),
    '[ // mine\n  { $match: { a: 1 } }, // first\n  { $limit: 5 },\n  {$sort:{a:-1}}\n]',
  ],
  [
    'moved past one that is left out',
    moved('[{ $skip: 1 }, /* { $limit: 5 } */ { $match: {} }]', 0, 1),
    '[/* { $limit: 5 } */ { $skip: 1 }, { $match: {} }]',
  ],
  ['moved past the end', moved('[{ $skip: 1 }]', 0, 1), '[{ $skip: 1 }]'],
  ['added to nothing', added(' ', '{ $limit: 1 }'), '[\n  { $limit: 1 }\n]'],
  ['added to an empty one', added('[]', '{ $limit: 1 }'), '[\n  { $limit: 1 }\n]'],
  ['added on the line', added('[{ $skip: 1 }]', '{ $limit: 1 }'), '[{ $skip: 1 }, { $limit: 1 }]'],
  [
    'added behind a comment',
    added('[\n    { $skip: 1 }, // few\n]', '{\n  $limit: 1\n}'),
    '[\n    { $skip: 1 }, // few\n    {\n      $limit: 1\n    }\n]',
  ],
])('%s', (_, text, want) => expect(text).toBe(want));

test('what cannot be read is not changed', () => {
  expect(switched('[', 0, true)).toMatchObject({ error: '"]" is missing.' });
  expect(moved('{}', 0, 1)).toMatchObject({ at: 0 });
});

/** Generates a pipeline with comments at every allowed position. */
function anyPipeline(next: (bound: number) => number): string {
  const gap = () =>
    ['', ' ', '\n  ', ' /* note */ ', '\n  // note, too\n', ' // { $x\n'][next(6)] ?? '';
  const stage = () =>
    [
      '{ $limit: 5 }',
      '{$match: {a: /x*/, b: "//"}}',
      '{\n $sort: {\n a: 1 } // down\n}',
      '{ $skip: 1, }',
    ][next(4)] ?? '';
  const count = next(5);
  let text = `[${gap()}`;
  for (let at = 0; at < count; at += 1) {
    text += stage() + gap() + (at < count - 1 || next(2) > 0 ? ',' : '') + gap();
    if (next(4) === 0) text += `/* { $count: "n${at}" } */${gap()}`;
  }
  return `${text}]`;
}

test('any changes keep every stage and comment, and what is left is a pipeline', () => {
  const next = numbers(7);
  const words = (text: string) => (text.match(/note(?:, too)?|\{ \$x|down/g) ?? []).length;
  for (let round = 0; round < 600; round += 1) {
    let text = anyPipeline(next);
    const notes = words(text);
    for (let step = 0; step < 4; step += 1) {
      const all = stagesOf(text).map((one) => ({ text: one.text, isOff: one.isOff }));
      const at = next(Math.max(1, all.length));
      const one = all[at];
      const kind = next(3);
      let changed: ReturnType<typeof added>;
      if (kind === 0 && one !== undefined) {
        changed = switched(text, at, !one.isOff);
        all[at] = { ...one, isOff: !one.isOff };
      } else if (kind === 1 && one !== undefined && at + 1 < all.length) {
        changed = moved(text, at, 1);
        all.splice(at, 2, all[at + 1] as typeof one, one);
      } else {
        changed = added(text, '{ $count: "n" }');
        all.push({ text: '{ $count: "n" }', isOff: false });
      }
      if (typeof changed !== 'string') throw new Error(`${changed.error}: ${text}`);
      const flat = (of: string) => of.replace(/\s+/g, ' ');
      expect(stagesOf(changed).map((found) => [flat(found.text), found.isOff])).toEqual(
        all.map((found) => [flat(found.text), found.isOff]),
      );
      expect(parseShell(changed), changed).toHaveProperty('value');
      expect(words(changed)).toBe(notes);
      text = changed;
    }
  }
});
