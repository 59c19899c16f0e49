import { Int32, Long } from 'bson';
import { expect, test } from 'vitest';
import { activityOf } from './running';

const here = { database: 'app', collection: 'log' };
const op = (command: object, more: object = {}) => ({
  ...{ type: 'op', ns: 'app.log', opid: new Int32(7), client: '127.0.0.1:5', command },
  ...{ microsecs_running: Long.fromNumber(1_500_000) },
  ...more,
});

test('what runs on the collection, the longest first', () => {
  const filter = { n: new Int32(1) };
  const { operations } = activityOf(
    [
      op({ find: 'log', filter }, { microsecs_running: Long.fromNumber(20_000), appName: 'shop' }),
      op({ find: 'other', filter }, { ns: 'app.other' }),
      op({ update: 'log', updates: [] }),
      op({ collStats: 'log' }),
      op(
        { getMore: 5, collection: 'log' },
        { cursor: { originatingCommand: { find: 'log', filter } } },
      ),
    ],
    here,
  );
  expect(
    operations.map(({ asked: { operation, query }, seconds, client }) => [
      ...[operation, query, seconds, client],
    ]),
  ).toEqual([
    ['update', null, 1.5, '127.0.0.1:5'],
    ['getMore', '{ find: "log", filter: { n: 1 } }', 1.5, '127.0.0.1:5'],
    ['find', '{ find: "log", filter: { n: 1 } }', 0.02, 'shop'],
  ]);
});

test('cursors that are used and those that wait', () => {
  const { cursors, operations } = activityOf(
    [
      op({ getMore: 5, collection: 'log' }, { cursor: {} }),
      { type: 'idleCursor', ns: 'app.log', cursor: {} },
      { type: 'idleCursor', ns: 'app.other', cursor: {} },
    ],
    here,
  );
  expect(cursors).toEqual({ open: 2, idle: 1 });
  expect(operations).toHaveLength(1);
});

test('a command of which the beginning alone is told is not told', () => {
  const [one] = activityOf([op({ $truncated: '{ find: "log"' })], here).operations;
  expect(one?.asked.query).toBeNull();
});
