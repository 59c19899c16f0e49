// The grid: chosen columns, editing cells, copying and duplicating rows, sorting by headings.
import type { Locator, Page } from '@playwright/test';
import { Decimal128, Long } from 'mongodb';
import { collection, container, DOORS, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, row, rows } from '../lib/items';
import { fontsReady } from '../lib/layout';

const heads = (page: Page) =>
  page.getByRole('columnheader').evaluateAll((all) => all.map((one) => one.ariaLabel));
const cell = (page: Page, id: string, column: string, door: typeof nosql) =>
  row(page, door, id).locator(`[data-column="${column}"]`);
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test('the time left is a column only where something can expire', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  await expect(row(page, mongo, 'one')).toBeVisible();
  expect(await heads(page)).toEqual(['_id', 'n']);
  await page.getByRole('button', { name: 'Columns (2)' }).click();
  const chooser = page.getByRole('region', { name: 'Columns', exact: true });
  await expect(chooser.getByRole('checkbox', { name: 'Expires' })).not.toBeChecked();
  await page.keyboard.press('Escape');
  // First one with a date, then all.
  const log = await collection(server);
  await log.createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
  await mongo.put(server, 'two', { n: 2, at: new Date('2100-01-01T00:00:00Z') });
  await page.getByRole('main').getByRole('button', { name: 'Refresh', exact: true }).click();
  await expect(row(page, mongo, 'two')).toBeVisible();
  await expect.poll(() => heads(page)).toEqual(['_id', 'Expires', 'n', 'at']);
});

for (const door of DOORS) {
  const id = door === nosql ? 'id' : '_id';

  test(`${door.noun}s: columns are chosen, ordered, sized and pinned, and remembered`, async ({
    page,
    server,
  }) => {
    await door.create(server, 7200);
    await door.put(server, 'one', { n: 1, user: 'ada', deep: { er: true } });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(row(page, door, 'one')).toBeVisible();
    expect(await heads(page)).toEqual([id, 'Expires', 'n', 'user', 'deep.er']);
    await page.getByRole('button', { name: 'Columns (5)' }).click();
    const chooser = page.getByRole('region', { name: 'Columns', exact: true });
    await chooser.getByRole('searchbox').fill('deep');
    await expect(chooser.getByRole('checkbox')).toHaveCount(2);
    await chooser.getByRole('checkbox', { name: /deep.er/ }).uncheck();
    await chooser.getByRole('searchbox').fill('');
    // Moving a column up by keyboard.
    await chooser.getByRole('checkbox', { name: 'user' }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Escape');
    await expect(chooser).toHaveCount(0);
    await expect(page.getByRole('button', { name: 'Columns (4)' })).toBeFocused();
    expect(await heads(page)).toEqual([id, 'Expires', 'user', 'n']);

    // By keyboard from the heading: wider, and one position to the left.
    const head = page.getByRole('columnheader', { name: 'n', exact: true });
    const width = async () => (await head.boundingBox())?.width ?? 0;
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowUp');
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    expect(await heads(page)).toEqual([id, 'Expires', 'n', 'user']);
    await page.keyboard.press('Shift+ArrowLeft');
    const before = await width();
    await page.keyboard.press('Shift+ArrowRight');
    expect(await width()).toBe(before + 24);
    // By mouse: the resize handle, and the menu.
    const edge = await head.locator('.items-edge').boundingBox();
    if (edge === null) throw new Error('there is no edge');
    await page.mouse.move(edge.x + 4, edge.y + 8);
    await page.mouse.down();
    await page.mouse.move(edge.x + 54, edge.y + 8);
    await page.mouse.up();
    expect(await width()).toBe(before + 74);
    await head.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Pin to the left' }).click();
    expect(await heads(page)).toEqual([id, 'n', 'Expires', 'user']);

    await page.reload();
    await expect(row(page, door, 'one')).toBeVisible();
    expect(await heads(page)).toEqual([id, 'n', 'Expires', 'user']);
    expect(await width()).toBe(before + 74);
  });

  test(`${door.noun}s: a cell is changed in place, unless somebody else was faster`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1, user: 'ada' });
    await page.goto(`/${door.name}/app/log/items`);
    await cell(page, 'one', 'user', door).dblclick();
    await page.keyboard.type('grace');
    await page.keyboard.press('Enter');
    await expect(cell(page, 'one', 'user', door)).toHaveText('grace');
    expect(await door.get(server, 'one')).toEqual({ n: 1, user: 'grace' });
    await expect(page.getByRole('grid')).toBeFocused();

    // By keyboard to the numeric cell n.
    for (const key of ['ArrowLeft', 'F2']) await page.keyboard.press(key);
    await page.keyboard.type('many');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('grid').getByRole('alert')).toHaveText(/Enter a number/);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('42');
    await door.put(server, 'one', { n: 7, user: 'grace' });
    await page.keyboard.press('Enter');
    await expect(page.getByRole('grid').getByRole('alert')).toHaveText(/Someone else/);
    expect(await door.get(server, 'one')).toEqual({ n: 7, user: 'grace' });
    await page.keyboard.press('Enter');
    await expect(cell(page, 'one', 'n', door)).toHaveText('42');
    expect(await door.get(server, 'one')).toEqual({ n: 42, user: 'grace' });
  });

  test(`${door.noun}s: copied, and duplicated`, async ({ page, server, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await door.create(server, null);
    await door.put(server, 'one', { n: 1, user: 'ada' });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(row(page, door, 'one')).toBeVisible();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+C');
    await expect.poll(() => clipboard(page)).toBe(`{"${id}":"one","n":1,"user":"ada"}`);
    await cell(page, 'one', 'user', door).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Copy cell' }).click();
    await expect.poll(() => clipboard(page)).toBe('ada');

    await cell(page, 'one', 'user', door).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    const anew = page.getByRole('region', { name: `New ${door.Noun}` });
    await expect(editor(anew)).toContainText('ada');
    expect(await door.ids(server)).toEqual(['one']);
    await anew.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(rows(page)).toHaveCount(2);
    if (door === nosql) {
      const { resources } = await container(server)
        .items.query('SELECT c.n, c.user FROM c')
        .fetchAll();
      expect(resources).toEqual([
        { n: 1, user: 'ada' },
        { n: 1, user: 'ada' },
      ]);
    } else expect(await (await collection(server)).countDocuments({ n: 1, user: 'ada' })).toBe(2);
  });
}

test('a field of documents behind the first page can be chosen', async ({ page, server }) => {
  const many = Array.from({ length: 1500 }, (_, at) => ({
    _id: `n${String(at).padStart(4, '0')}`,
    ...(at === 1102 ? { rare: 'found' } : { n: at }),
  }));
  await mongo.create(server, null);
  await (await collection(server)).insertMany(many);
  await page.goto('/mongo/app/log/items');
  await page.getByRole('button', { name: 'Load all' }).click();
  await expect(page.getByText(/^1.?500 documents loaded/)).toBeVisible();
  // It does not change the shown columns.
  expect(await heads(page)).toEqual(['_id', 'n']);
  await page.getByRole('button', { name: 'Columns (2)' }).click();
  const chooser = page.getByRole('region', { name: 'Columns', exact: true });
  await chooser.getByRole('checkbox', { name: /rare/ }).check();
  expect(await heads(page)).toEqual(['_id', 'n', 'rare']);
});

test('the head of a column of numbers ends where they do', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', { n: 12345, user: 'ada' });
  await page.goto('/nosql/app/log/items?sort=n');
  await expect(row(page, nosql, 'one')).toBeVisible();
  /** Returns the right end of a text, px. */
  const end = (what: Locator) =>
    what.evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getBoundingClientRect().right;
    });
  const name = (column: string) =>
    page.getByRole('columnheader', { name: column, exact: true }).locator('.items-head-name');
  await fontsReady(page);
  expect(await end(name('n'))).toBeCloseTo(await end(cell(page, 'one', 'n', nosql)), 0);
  // Other headings are aligned with their cells.
  const [head, under] = [
    await name('user').boundingBox(),
    await cell(page, 'one', 'user', nosql).boundingBox(),
  ];
  expect((head?.x ?? 0) - (under?.x ?? 0)).toBeLessThan(12);
});

test('a number of MongoDB keeps its type in a cell', async ({ page, server }) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { n: Long.fromNumber(5), at: new Date(0) });
  await page.goto('/mongo/app/log/items');
  await cell(page, 'one', 'n', mongo).dblclick();
  await page.keyboard.type('9007199254740993');
  await page.keyboard.press('Enter');
  await expect(cell(page, 'one', 'n', mongo)).toContainText('9007199254740993');
  const log = await collection(server);
  expect(
    await log.countDocuments({ n: { $type: 'long', $eq: Long.fromString('9007199254740993') } }),
  ).toBe(1);
  await page.getByRole('button', { name: /^Undo/ }).click();
  await expect(cell(page, 'one', 'n', mongo)).not.toContainText('9007199254740993');
  expect(await log.countDocuments({ n: { $type: 'long', $eq: Long.fromNumber(5) } })).toBe(1);
});

for (const door of DOORS) {
  test(`${door.noun}s: sorted by the server, by the address, and with or without an index`, async ({
    page,
    server,
  }) => {
    await door.create(server, 7200);
    await fillWith(server, door, 250);
    if (door === mongo) await (await collection(server)).createIndex({ n: 1 });
    await door.put(server, 'short', { n: -1, user: 'zoe', ttl: 30 });
    await page.goto(`/${door.name}/app/log/items`);
    const head = page.getByRole('columnheader', { name: 'n', exact: true });
    await head.click();
    await expect(page).toHaveURL(/[?&]sort=n(&|$)/);
    await expect(head).toHaveAttribute('aria-sort', 'ascending');
    await expect(rows(page).first()).toContainText('short');
    const index = door === mongo ? 'n_1' : '/n/?';
    await expect(
      page.getByText(`Sorted by n ascending: index ${index} serves this order`),
    ).toBeVisible();
    await head.click();
    // Only 100 of 251 were loaded: the server has sorted.
    await expect(rows(page).first()).toContainText('n249');
    await page.goBack();
    await page.goto(`/${door.name}/app/log/items?sort=-user`);
    await expect(rows(page).first()).toContainText('short');
    await expect(page.getByText(/^Sorted by user descending/)).toContainText(
      door === mongo ? 'no index for this sort' : 'index /user/? serves',
    );
    // Sorted by expiry, the server lists what expires next, and not everything is loaded.
    const expires = page.getByRole('columnheader', { name: 'Expires' });
    await expires.click();
    await expect(rows(page).first()).toContainText('00:30');
    await expect(
      page.getByText(/^Sorted by Expires ascending: next to expire first/),
    ).toBeVisible();
    // In descending order only the loaded rows are sorted.
    await expires.click();
    await expect(page.getByText(/loaded rows, since the server sorts/)).toBeVisible();
    await page.getByRole('button', { name: 'Clear sort' }).click();
    await expect(page).not.toHaveURL(/sort=/);
  });
}

// Other clients write while the clock runs.
test.describe('others', () => {
  test.use({ options: { clock: 'system' } });

  for (const door of DOORS) {
    test(`${door.noun}s: what others write is told, and shown when asked for`, async ({
      page,
      server,
    }) => {
      await door.create(server, 7200);
      await door.put(server, 'one', { n: 1 });
      await door.put(server, 'two', { n: 1 });
      await page.goto(`/${door.name}/app/log/items`);
      await expect(rows(page)).toHaveCount(2);
      const told = page.locator('.items-news');
      // The first poll is complete: changes are detected from now on.
      await page.waitForResponse((response) => /docs$|mongo\/app/.test(response.url()));
      // The user's own changes are not reported.
      await cell(page, 'two', 'n', door).dblclick();
      await page.keyboard.type('5');
      await page.keyboard.press('Enter');
      await expect(cell(page, 'two', 'n', door)).toHaveText('5');
      await door.put(server, 'three', { n: 3 });
      await expect(async () => {
        // MongoDB reports the time of a write in seconds, so it must be a later one.
        await door.put(server, 'one', { n: 2, at: Date.now() });
        await expect(told).toContainText('changed 1', { timeout: 4000 });
      }).toPass();
      await expect(told).toContainText(`Other clients have added 1 ${door.noun} and changed 1.`);
      await told.getByRole('button', { name: 'Show' }).click();
      await expect(rows(page)).toHaveCount(3);
      await expect(cell(page, 'one', 'n', door)).toHaveText('2');
      await expect(told).toHaveCount(0);
    });
  }
});

test('dates and numbers of MongoDB are read without their types', async ({ page, server }) => {
  const logs = (await server.mongo()).db('app').collection('log');
  await logs.insertOne({
    at: new Date('2026-01-31T12:00:00Z'),
    much: Decimal128.fromString('471.450'),
    long: Long.fromString('9007199254740993'),
  });
  await page.goto('/mongo/app/log/items');
  for (const [text, typed] of [
    ['2026-01-31 12:00:00', 'ISODate("2026-01-31T12:00:00.000Z")'],
    ['471.450', 'NumberDecimal("471.450")'],
    ['9007199254740993', 'NumberLong("9007199254740993")'],
  ] as const) {
    const cell = page.getByRole('gridcell', { name: text, exact: true });
    await expect(cell).toHaveAttribute('title', typed);
  }
  // The seconds of a date are not truncated.
  const date = page.getByRole('gridcell', { name: '2026-01-31 12:00:00' });
  await fontsReady(page);
  expect(await date.evaluate((at) => at.scrollWidth - at.clientWidth)).toBe(0);
});
