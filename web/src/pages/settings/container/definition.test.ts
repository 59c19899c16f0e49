import { expect, test } from 'vitest';
import type { ContainerRecord } from '../../../api/nosql';
import { draftOf } from '../../../pure/ttl/input';
import { type Base, differences, type Edits, judge, minutesInWords, readFeed } from './definition';

const record: ContainerRecord = {
  id: 'c',
  _rid: 'r',
  _self: 's',
  _etag: 'e',
  _ts: 5,
  partitionKey: { paths: ['/pk'], kind: 'Hash' },
  indexingPolicy: { indexingMode: 'consistent', automatic: true },
  defaultTtl: 3600,
  geospatialConfig: { type: 'Geography' },
};
const base: Base = { record, offer: null };
const none = { indexingMode: 'none', automatic: false };

test.each<[string, Edits, object]>([
  ['nothing', {}, {}],
  ['ttl as it was', { ttl: { option: 'on', text: '60', unit: 'minute' } }, {}],
  ['another ttl', { ttl: draftOf(60) }, { defaultTtl: 60 }],
  ['no default', { ttl: draftOf(-1) }, { defaultTtl: -1 }],
  ['off', { ttl: draftOf(null) }, { defaultTtl: undefined }],
  [
    'a policy written in another order',
    { policy: '{"automatic":true,"indexingMode":"consistent"}' },
    {},
  ],
  ['a policy', { policy: '{"indexingMode":"lazy"}' }, { indexingPolicy: { indexingMode: 'lazy' } }],
  ['a feed', { feed: { on: true, text: '60' } }, { changeFeedPolicy: { retentionDuration: 60 } }],
  ['a feed that is off already', { feed: { on: false, text: '5' } }, {}],
])('%s is put in, everything else is kept', (_, edits, want) => {
  const judged = judge(base, edits);
  expect(judged.problems).toEqual({});
  expect(judged.recordChanged).toBe(Object.keys(want).length > 0);
  expect(JSON.parse(JSON.stringify(judged.record))).toEqual(
    JSON.parse(JSON.stringify({ ...record, ...want })),
  );
});

test('a feed that is turned off leaves nothing behind', () => {
  const fed = { ...base, record: { ...record, changeFeedPolicy: { retentionDuration: 10 } } };
  const judged = judge(fed, { feed: { on: false, text: '10' } });
  expect(judged.record).not.toHaveProperty('changeFeedPolicy');
  expect(judged.changed).toEqual(['change-feed']);
});

test('what is wrong is said of its section', () => {
  const judged = judge(base, {
    ttl: { option: 'on', text: '0', unit: 'second' },
    policy: '{',
    feed: { on: true, text: '10081' },
  });
  expect(Object.keys(judged.problems)).toEqual(['ttl', 'indexing', 'change-feed']);
  expect(judged.changed).toEqual(['ttl', 'indexing', 'change-feed']);
  expect(judged.ttl).toBeUndefined();
});

test('indexing mode none and a time to live exclude each other, on both sections', () => {
  const clash = judge(base, { policy: JSON.stringify(none) });
  expect(clash.problems.ttl?.[0]).toContain(
    "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection",
  );
  expect(clash.problems.indexing).toEqual(clash.problems.ttl);
  const both = judge(base, { policy: JSON.stringify(none), ttl: draftOf(null) });
  expect(both.problems).toEqual({});
  const bare = { ...base, record: { ...record, indexingPolicy: none, defaultTtl: undefined } };
  expect(judge(bare as unknown as Base, { ttl: draftOf(-1) }).problems.ttl).toHaveLength(1);
});

test.each([
  ['', /Enter/],
  ['0', /1 to 10080 \(7 days\)/],
  ['10081', /1 to 10080/],
  ['1.5', /whole number/],
])('%j minutes are refused', (text, says) => {
  const read = readFeed({ on: true, text });
  expect('error' in read ? read.error : '').toMatch(says);
});

test('minutes in words', () => {
  expect(minutesInWords(0)).toBe('Off');
  expect(minutesInWords(5)).toBe('5 minutes');
  expect(minutesInWords(1440)).toBe('1440 minutes = 1 day');
});

test('definitions differ in what a person can name', () => {
  const theirs: ContainerRecord = {
    ...record,
    _etag: 'f',
    _ts: 6,
    indexingPolicy: { automatic: true, indexingMode: 'consistent' },
  };
  expect(differences(record, theirs)).toEqual([]);
  delete theirs.defaultTtl;
  theirs.other = [1];
  expect(differences(record, theirs)).toEqual([
    { name: 'Time to live', before: '3600 s = 1 hour', after: 'Off' },
    { name: 'other', before: 'not set', after: '[\n 1\n]' },
  ]);
});
