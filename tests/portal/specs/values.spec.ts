// Values that a careless editor would alter: a document that is opened, changed in another place
// and saved keeps its digits and types.
import type { Page } from '@playwright/test';
import {
  Binary,
  BSON,
  BSONRegExp,
  BSONSymbol,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb';
import { collection, DOORS, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, row, saveItem, write } from '../lib/items';

/** Types before the last brace of the open text. */
async function typeAtEnd(page: Page, text: string) {
  await page.keyboard.press('Control+End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type(text);
}

/** Numbers as typed, and as the service prints them: in the shortest form that parses back. */
const NUMBERS = [
  ['20.0', '20'],
  ['20', '20'],
  ['9007199254740993', '9007199254740993'],
  ['-0.0', '-0'],
  ['0.1', '0.1'],
  ['123456789012345678', '123456789012345678'],
] as const;

test('numbers of an item keep their digits', async ({ page, server }) => {
  await nosql.create(server, null);
  await page.goto('/nosql/app/log/items');
  await page.getByRole('button', { name: 'New item' }).click();
  const anew = page.getByRole('region', { name: 'New item' });
  const fields = NUMBERS.map(([typed], at) => `"n${at}": ${typed}`).join(', ');
  await write(page, editor(anew), nosql.text('one', fields));
  await saveItem(page, anew, 'created item one');
  await page.reload();
  const pane = await openItem(page, nosql, 'one');
  for (const [at, [, shown]] of NUMBERS.entries()) {
    await expect(editor(pane)).toContainText(
      new RegExp(`"n${at}": ${shown.replace('.', '\\.')}(,|\\s*})`),
    );
  }
  await editor(pane).focus();
  await typeAtEnd(page, ', "typed": true');
  await saveItem(page, pane, 'updated item one');
  const path = `${server.url}/_portal/api/nosql/dbs/app/colls/log/docs/one`;
  const read = await page.request.get(path, {
    headers: { 'x-ms-documentdb-partitionkey': '["one"]' },
  });
  const text = await read.text();
  for (const [at, [, shown]] of NUMBERS.entries())
    expect(text).toMatch(new RegExp(`"n${at}": ?${shown.replace('.', '\\.')}[,}]`));
  expect(text).toMatch(/"typed": ?true/);
});

const TYPES = {
  int: new Int32(20),
  long: Long.fromString('9007199254740993'),
  'small long': Long.fromNumber(20),
  double: new Double(20),
  part: new Double(0.1),
  minus: new Double(-0),
  'not a number': new Double(Number.NaN),
  endless: new Double(-Infinity),
  decimal: Decimal128.fromString('20.00'),
  text: 'with "quotes", \\ and ü',
  'no text': '',
  yes: true,
  nothing: null,
  id: new ObjectId('0123456789abcdef01234567'),
  date: new Date('2106-02-07T06:28:15.123Z'),
  'early date': new Date(-1),
  pattern: new BSONRegExp('^a/b+$', 'im'),
  binary: new Binary(Buffer.from([0, 1, 254, 255]), 0),
  user: new Binary(Buffer.from('x'), 128),
  uuid: new UUID('01234567-89ab-4def-8123-456789abcdef'),
  timestamp: new Timestamp({ t: 4_294_967_295, i: 7 }),
  least: new MinKey(),
  most: new MaxKey(),
  code: new Code('function () { return 1; }'),
  scoped: new Code('n', { n: new Int32(1) }),
  symbol: new BSONSymbol('sym'),
  ref: new DBRef('log', new ObjectId('0123456789abcdef01234567')),
  list: [new Int32(1), new Double(1), [], {}, null],
  nested: { 'a.b': { $set: new Int32(1) }, '': '' },
};

test('every type of a document stays what it is', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  await log.insertOne({ _id: 'one', ...TYPES });
  const stored = async () => {
    const raw = (await log.findOne({ _id: 'one' }, { raw: true })) as unknown as Uint8Array;
    return BSON.deserialize(raw, { promoteValues: false, bsonRegExp: true });
  };
  const exactly = (document: BSON.Document) =>
    BSON.EJSON.stringify(document, undefined, 1, { relaxed: false });
  const before = await stored();
  await page.goto('/mongo/app/log/items');
  const pane = await openItem(page, mongo, 'one');
  await editor(pane).focus();
  await typeAtEnd(page, ', typed: true');
  await saveItem(page, pane, 'updated document "one"');
  expect(exactly(await stored())).toBe(exactly({ ...before, typed: true }));
});

for (const door of DOORS) {
  test(`${door.noun}s: characters that nobody sees have a sign`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { name: '\u202eevil\u200b', text: ' two\nlines' });
    await page.goto(`/${door.name}/app/log/items`);
    const cell = (column: string) => row(page, door, 'one').locator(`[data-column="${column}"]`);
    await expect(cell('name')).toHaveText('•evil•');
    // The exact text: leading spaces are visible too.
    expect(await cell('text').evaluate((found) => found.textContent)).toBe(' two↵lines');
    await expect(cell('text')).toHaveCSS('white-space', 'pre');
    const pane = await openItem(page, door, 'one');
    await expect(editor(pane).locator('.cm-specialChar')).toHaveCount(2);
  });
}
