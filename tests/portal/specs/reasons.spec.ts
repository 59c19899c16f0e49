// The Expires column for every kind of ttl under every kind of default.
import type { Page } from '@playwright/test';
import { Decimal128, Double, Int32, Long } from 'mongodb';
import { collection, type Door, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { expires } from '../lib/items';

/** Expected text with TTL off, without a default, and with a default of a minute. */
type Said = [off: string, noDefault: string, minute: string | RegExp];

const OFF = 'ttl ignored: TTL is off';
const ABSENT: Said = ['never (TTL is off)', 'never (no default)', /^01:00 \S+ \d\d:\d\d:\d\d\S*$/];
const NEVER: Said = [OFF, 'never (ttl = -1)', 'never (ttl = -1)'];
const EXPIRES = /^00:20 \S+ \d\d:\d\d:\d\d\S*$/;

function ignored(why: string): Said {
  const said = `ttl ignored: ${why}; `;
  return [
    OFF,
    `${said}never (no default)`,
    new RegExp(`^01:00 \\S+ [\\d:.]+${escaped(`${said}expires by the default`)}$`),
  ];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function check(page: Page, door: Door, kinds: readonly Kind[], at: 0 | 1 | 2) {
  for (const [id, , said] of kinds) {
    const wanted = at > 0 && said === 'dies' ? EXPIRES : said === 'dies' ? OFF : said[at];
    await expect(expires(page, door, id)).toHaveText(wanted);
  }
}

type Kind = [id: string, ttl: unknown, said: Said | 'dies'];

const ITEMS: Kind[] = [
  ['absent', undefined, ABSENT],
  ['never', -1, NEVER],
  ['short', 20, 'dies'],
  ['part', 20.5, ignored('20.5 is not a whole number')],
  ['zero', 0, ignored('0 is neither -1 nor positive')],
  ['minus', -5, ignored('-5 is neither -1 nor positive')],
  ['large', 2147483648, ignored('2147483648 is larger than 2147483647')],
  ['text', '20', ignored('"20" is not a number')],
  ['null', null, ignored('null is not a number')],
  ['true', true, ignored('true is not a number')],
];

test('items', async ({ page, server }) => {
  await nosql.create(server, null);
  // While TTL is on, the API refuses an invalid ttl; these were written before.
  for (const [id, ttl] of ITEMS) await nosql.put(server, id, ttl === undefined ? {} : { ttl });
  await page.goto('/nosql/app/log/items');
  await check(page, nosql, ITEMS, 0);
  for (const [at, value] of [
    [1, -1],
    [2, 60],
  ] as const) {
    await nosql.setDefault(server, value);
    await page.reload();
    await check(page, nosql, ITEMS, at);
  }
});

const DOCUMENTS: Kind[] = [
  ['absent', undefined, ABSENT],
  ['never', new Int32(-1), NEVER],
  ['short', new Int32(20), 'dies'],
  ['long', Long.fromNumber(20), 'dies'],
  ['double', new Double(20), 'dies'],
  ['part', new Double(20.5), ignored('20.5 is not a whole number')],
  ['zero', new Int32(0), ignored('0 is neither -1 nor positive')],
  ['minus', new Int32(-5), ignored('-5 is neither -1 nor positive')],
  ['large', Long.fromString('2147483648'), ignored('2147483648 is larger than 2147483647')],
  ['text', '20', ignored('"20" is not an int, long or double')],
  ['null', null, ignored('null is not an int, long or double')],
  [
    'decimal',
    Decimal128.fromString('20'),
    ignored('NumberDecimal("20") is not an int, long or double'),
  ],
];

test('documents', async ({ page, server }) => {
  await mongo.create(server, null);
  for (const [id, ttl] of DOCUMENTS) await mongo.put(server, id, ttl === undefined ? {} : { ttl });
  await page.goto('/mongo/app/log/items');
  await check(page, mongo, DOCUMENTS, 0);
  for (const [at, value] of [
    [1, -1],
    [2, 60],
  ] as const) {
    await mongo.setDefault(server, value);
    await page.reload();
    await check(page, mongo, DOCUMENTS, at);
  }
});

test('documents with a date, and from while per-document TTL was off', async ({ page, server }) => {
  await mongo.create(server, 60);
  const log = await collection(server);
  await log.createIndex({ at: 1 }, { name: 'by-date', expireAfterSeconds: 10 });
  const { now } = (await log.db.admin().command({ ebbClock: 1 })) as { now: Date };
  const at = (seconds: number) =>
    new Date(Math.floor(now.getTime() / 1000) * 1000 + seconds * 1000);
  await mongo.put(server, 'dated', { at: at(20) });
  await mongo.put(server, 'many dates', { at: [at(40), at(5)] });
  await mongo.put(server, 'dated later', { at: at(90) });
  const switched = await page.request.put(`${server.url}/_ebb/features`, {
    data: { per_document_ttl: false },
  });
  expect(switched.ok()).toBe(true);
  await mongo.put(server, 'unheard', { ttl: new Int32(20) });
  await page.goto('/mongo/app/log/items');
  await expect(expires(page, mongo, 'dated')).toHaveText(/^00:30 \S+ [\d:.]+by index by-date$/);
  await expect(expires(page, mongo, 'many dates')).toHaveText(
    /^00:15 \S+ [\d:.]+by index by-date$/,
  );
  await expect(expires(page, mongo, 'dated later')).toHaveText(/^01:00 \S+ [\d:.]+$/);
  const ignoredFor = 'ttl ignored: written while per-document TTL was off; expires by the default';
  await expect(expires(page, mongo, 'unheard')).toHaveText(
    new RegExp(`^01:00 \\S+ [\\d:.]+${ignoredFor}$`),
  );
  await server.advance(15);
  await expect(page.getByRole('gridcell', { name: '"many dates"' })).toHaveCount(0);
  expect(await mongo.ids(server)).toEqual(['dated', 'dated later', 'unheard']);
});
