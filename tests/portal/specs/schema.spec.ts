// The schema page: fields, and how documents expire, with a link to each class.
import type { Page } from '@playwright/test';
import { Decimal128, Long } from 'mongodb';
import { collection, DOORS, type Door, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { rows } from '../lib/items';
import type { Server } from '../lib/server';

const classes = (page: Page) => page.getByRole('region', { name: /^How (items|documents) expire/ });
const fields = (page: Page) => page.getByRole('region', { name: 'Table of fields' });

async function fill(server: Server, door: Door): Promise<void> {
  // While TTL is on, the NoSQL API refuses an invalid ttl.
  await door.create(server, null);
  const kinds: [string, unknown, number][] = [
    ['plain', undefined, 5],
    ['own', 60, 3],
    ['never', -1, 2],
    ['wrong', 'soon', 1],
    ['part', 2.5, 1],
  ];
  for (const [name, ttl, many] of kinds) {
    for (let at = 0; at < many; at += 1) {
      const fields = { user: at === 0 ? 'ada' : 'bob', at, tags: ['x'], in: { city: 'Rome' } };
      await door.put(server, `${name}${at}`, ttl === undefined ? fields : { ...fields, ttl });
    }
  }
  await door.setDefault(server, 3600);
}

for (const door of DOORS) {
  test(`classes of expiry lead to their documents, ${door.name}`, async ({ page, server }) => {
    await fill(server, door);
    await page.goto(`/${door.name}/app/log/items`);
    await page.getByRole('tab', { name: 'Schema' }).click();
    await expect(page).toHaveURL(new RegExp(`/${door.name}/app/log/schema$`));
    await expect(page.getByRole('status').filter({ hasText: 'All 12' })).toBeVisible();
    const found: [name: string, share: string, many: string][] = [
      ['Collection default', '42 %', '5'],
      ['Own ttl', '25 %', '3'],
      ['Never: ttl = -1', '17 %', '2'],
      ['ttl ignored: it is not a number', '8 %', '1'],
      ['ttl ignored: it is not a whole number', '8 %', '1'],
    ];
    const table = classes(page).getByRole('row');
    await expect(table).toHaveCount(found.length + 1);
    for (const [name, share, many] of found) {
      const line = table.filter({ has: page.getByRole('rowheader', { name, exact: true }) });
      await expect(line.getByRole('cell').nth(0)).toHaveText(share);
      await expect(line.getByRole('cell').nth(1)).toHaveText(many);
    }
    await expect(page.getByRole('group', { name: /expire per day/ })).toBeVisible();
    for (const [name, , many] of found) {
      await page.getByRole('link', { name: `Show ${door.noun}s: ${name}`, exact: true }).click();
      await expect(page).toHaveURL(/\/items\?filter=/);
      await expect(rows(page)).toHaveCount(Number(many));
      await page.goBack();
      await expect(classes(page)).toBeVisible();
    }
  });

  test(`types, shares, ranges and values of fields, ${door.name}`, async ({ page, server }) => {
    await fill(server, door);
    await page.goto(`/${door.name}/app/log/schema`);
    const line = (name: string) =>
      fields(page)
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    const number = door.name === 'mongo' ? 'int' : 'number';
    await expect(line('at').getByRole('cell')).toHaveText([
      '100 %',
      number,
      '0 to 4',
      /^0 42 %1 25 %2 17 %.*5 different values$/,
    ]);
    await expect(line('user').getByRole('cell').nth(3)).toContainText('"bob" 58 %"ada" 42 %');
    await expect(line('in.city').getByRole('cell').nth(0)).toHaveText('100 %');
    await expect(line('tags').getByRole('cell').nth(2)).toHaveText('1 element');
    await expect(line('ttl').getByRole('cell').nth(0)).toHaveText('58 %');
    await expect(line('ttl').getByRole('cell').nth(1)).toContainText('string 14 %');
    await line('in.city').getByRole('link', { name: '"Rome"' }).click();
    await expect(rows(page)).toHaveCount(12);
    await page.goBack();
    await line('user').getByRole('link', { name: '"ada"' }).focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/items\?filter=/);
    await expect(rows(page)).toHaveCount(5);
  });
}

test('numbers are read without the words of their types', async ({ page, server }) => {
  await mongo.create(server, null);
  const long = Long.fromString('9007199254740993');
  const numbers = [long, long, long, 5, 5, Decimal128.fromString('7.50')];
  for (const [at, n] of numbers.entries()) await mongo.put(server, `n${at}`, { n });
  await page.goto('/mongo/app/log/schema');
  const line = fields(page)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: 'n', exact: true }) });
  await expect(line.getByRole('cell').nth(2)).toHaveText('5 to 9007199254740993');
  await expect(line.getByRole('listitem')).toHaveText(['9007199254740993 long 50 %', '5 33 %']);
  await line.getByRole('link', { name: '9007199254740993' }).click();
  await expect(rows(page)).toHaveCount(3);
});

test('a sample of many is chosen at random, and its size is remembered', async ({
  page,
  server,
}) => {
  await nosql.create(server, -1);
  await mongo.create(server, null);
  const many = Array.from({ length: 3000 }, (_, at) => ({ _id: `n${at}`, at }));
  await (await collection(server)).insertMany(many);
  const { items } = server.cosmos.database('app').container('log');
  for (let at = 0; at < many.length; at += 100) {
    const some = many.slice(at, at + 100);
    await items.executeBulkOperations(
      some.map((one) => ({
        operationType: 'Create' as const,
        partitionKey: one._id,
        resourceBody: { id: one._id, at: one.at },
      })),
    );
  }
  const status = page.getByRole('status').filter({ hasText: 'chosen at random' });
  for (const [door, said] of [
    ['mongo', /^100 of 3,000 documents, chosen at random$/],
    ['nosql', /^\d+ of 3,000 items, chosen at random$/],
  ] as const) {
    await page.goto(`/${door}/app/log/schema`);
    const size = page.getByRole('combobox', { name: 'Sample of' });
    if (door === 'mongo') {
      await expect(page.getByText(/^1,000 of 3,000/)).toBeVisible();
      await size.selectOption('100');
    }
    await expect(size).toHaveValue('100');
    await expect(status).toHaveText(said);
    // It covers all values, not only the first.
    const range = fields(page)
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: 'at', exact: true }) })
      .getByRole('cell')
      .nth(2);
    await expect(range).toHaveText(/^\d{1,3} to 2\d{3}$/);
    await size.selectOption('10000');
    await expect(page.getByText(/^All 3,000/)).toBeVisible();
    await size.selectOption('100');
  }
});

test('a collection without documents says so', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/schema');
  await expect(page.getByText('There are no documents.')).toBeVisible();
});
