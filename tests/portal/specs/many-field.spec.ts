// Setting, removing or renaming a field of many items: preview, refusals, outcome, and undo.
import type { Page } from '@playwright/test';
import { Double, Int32, Long } from 'mongodb';
import { collection, container, DOORS, fillWith, mongo, nosql, numbered } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { row, rows } from '../lib/items';
import { fontsReady } from '../lib/layout';

const dialog = (page: Page) => page.getByRole('dialog');
const toast = (page: Page) => page.getByRole('region', { name: 'Notifications' });
const example = (page: Page) => dialog(page).getByLabel('Example');

async function askOfAll(page: Page) {
  await page.getByRole('button', { name: 'All matching…' }).click();
  await page.getByRole('menuitem', { name: 'Change a field of all…' }).click();
}

async function askOfSelection(page: Page) {
  await page.getByRole('grid').focus();
  await page.keyboard.press('Control+A');
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await bar.getByRole('button', { name: 'Change a field…' }).click();
}

for (const door of DOORS) {
  const { noun } = door;

  test(`${noun}s: a field is set by keyboard alone, and put back`, async ({ page, server }) => {
    await door.create(server, 7200);
    await door.put(server, 'a', { address: { city: 'Bonn' }, ttl: 3600 });
    await door.put(server, 'b', { address: { city: 'Jena' } });
    await door.put(server, 'c', { n: 1 });
    await door.put(server, 'd', { address: 'unknown' });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(rows(page)).toHaveCount(4);
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+A');
    const ask = page.getByRole('toolbar').getByRole('button', { name: 'Change a field…' });
    for (let n = 0; n < 60; n += 1) {
      if (await ask.evaluate((one) => one === document.activeElement)) break;
      await page.keyboard.press('Shift+Tab');
    }
    await page.keyboard.press('Enter');
    await expect(dialog(page).getByLabel('Field', { exact: true })).toBeFocused();
    await page.keyboard.type('address.city');
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
    // Escape cancelled it, so it is opened again.
    await expect(ask).toBeFocused();
    await page.keyboard.press('Enter');
    await page.keyboard.type('address.city');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expect(dialog(page).getByLabel('Value', { exact: true })).toBeFocused();
    await page.keyboard.type('Jena');
    await expect(dialog(page)).toContainText(
      'Of 4: 2 will change; 1 is unchanged and will not be written; 1 cannot be changed: address',
    );
    await expect(dialog(page)).toContainText('1 currently have another type: 1 have no such field');
    await expect(example(page)).toContainText('address.city: "Bonn"');
    await expect(example(page)).toContainText('address.city: "Jena"');
    await expect(dialog(page)).toContainText(
      'restarts the TTL. They expire: 1 by the default, 2 hours after it; ' +
        '1 by their own ttl, 1 hour after it.',
    );
    await server.advance(600);
    await page.keyboard.press('Enter');
    await expect(toast(page)).toContainText(
      `Changed a field of 2 ${noun}s; 1 was unchanged; 1 failed: address holds a value of type`,
    );
    expect(await door.get(server, 'a')).toEqual({ address: { city: 'Jena' }, ttl: 3600 });
    expect(await door.get(server, 'c')).toEqual({ n: 1, address: { city: 'Jena' } });
    expect(await door.get(server, 'd')).toEqual({ address: 'unknown' });
    // A concurrent change of one of them.
    await door.put(server, 'a', { address: { city: 'Kiel' } });
    await toast(page).getByRole('button', { name: /^Undo/ }).click();
    await expect(toast(page)).toContainText(`Restored 1 ${noun}; 1 changed by others`);
    expect(await door.get(server, 'a')).toEqual({ address: { city: 'Kiel' } });
    expect(await door.get(server, 'c')).toEqual({ n: 1 });
    // The countdown of written items restarted; that of the others continued.
    await server.advance(6700);
    expect(await door.ids(server)).toEqual(['a', 'c']);
  });

  test(`${noun}s: what cannot be changed is refused before`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'a', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(rows(page)).toHaveCount(1);
    await askOfSelection(page);
    await expect(dialog(page).getByRole('heading')).toHaveText(
      `Change a field of ${noun} ${door.label('a')}?`,
    );
    const begin = dialog(page).getByRole('button', { name: `Change 1 ${noun}` });
    const field = dialog(page).getByLabel('Field', { exact: true });
    const wrong = [
      [door === nosql ? 'id' : '_id', /cannot be changed/],
      ['_ts', /set by the server/],
      ['ttl', /Set ttl/],
      ['a..b', /empty/],
    ] as const;
    for (const [path, why] of wrong) {
      await field.fill(path);
      await expect(dialog(page).getByRole('alert')).toHaveText(why);
      await expect(field).toHaveAttribute('aria-invalid', 'true');
      await expect(begin).toBeDisabled();
    }
    await field.fill('n');
    // The existing values determine the type.
    const type = dialog(page).getByLabel('Type');
    await expect(type).toHaveValue(door === nosql ? 'number' : 'int');
    await dialog(page).getByLabel('Value', { exact: true }).fill('one');
    await expect(dialog(page).getByRole('alert')).toHaveText(/Enter a number/);
    await dialog(page).getByRole('radio', { name: 'Rename the field' }).check();
    await dialog(page).getByLabel('New name').fill('n.m');
    await expect(dialog(page).getByRole('alert')).toHaveText(/itself/);
    await expect(begin).toBeDisabled();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    expect(await door.get(server, 'a')).toEqual({ n: 1 });
  });

  test(`${noun}s: a field of all that fit is renamed, and removed`, async ({ page, server }) => {
    await door.create(server, null);
    await fillWith(server, door, 250);
    await door.put(server, numbered(20), { n: 20, user: 'ada', who: 'old' });
    const filter = door === mongo ? '{ user: "ada" }' : 'WHERE c.user = "ada"';
    await page.goto(`/${door.name}/app/log/items?filter=${encodeURIComponent(filter)}`);
    await expect(page.getByText(`25 ${noun}s match`, { exact: true })).toBeVisible();
    await askOfAll(page);
    await dialog(page).getByLabel('Field', { exact: true }).fill('n');
    await dialog(page).getByRole('radio', { name: 'Rename the field' }).check();
    await dialog(page).getByLabel('New name').fill('facts.count');
    await expect(dialog(page)).toContainText('Of 25: 25 will change.');
    await dialog(page)
      .getByRole('button', { name: `Change 25 ${noun}s` })
      .click();
    await expect(toast(page)).toContainText(`Changed a field of 25 ${noun}s`);
    expect(await door.get(server, numbered(10))).toEqual({ user: 'ada', facts: { count: 10 } });
    expect(await door.get(server, numbered(11))).toEqual({ n: 11, user: 'bob' });
    // The filter refers to the renamed field; rows of the second page must not be skipped.
    await askOfAll(page);
    await dialog(page).getByLabel('Field', { exact: true }).fill('user');
    await dialog(page).getByRole('radio', { name: 'Rename the field' }).check();
    await dialog(page).getByLabel('New name').fill('who');
    await expect(dialog(page)).toContainText('1 already have a field with the new name');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => door.get(server, numbered(20)))
      .toEqual({ who: 'ada', facts: { count: 20 } });
    await expect(dialog(page)).toHaveCount(0);
    await toast(page).getByRole('button', { name: /^Undo/ }).last().click();
    await expect(toast(page)).toContainText(`Restored 25 ${noun}s`);
    expect(await door.get(server, numbered(20))).toEqual({
      ...{ user: 'ada', who: 'old', facts: { count: 20 } },
    });
    await askOfAll(page);
    await dialog(page).getByLabel('Field', { exact: true }).fill('facts');
    await dialog(page).getByRole('radio', { name: 'Remove the field' }).check();
    await page.keyboard.press('Enter');
    await expect.poll(() => door.get(server, numbered(10))).toEqual({ user: 'ada' });
  });
}

test('values of BSON are set with their types', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  await log.insertMany([
    { _id: 'a', n: new Int32(1) },
    { _id: 'b', n: 'one' },
  ]);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(2);
  const typed = [
    ['int', '7', new Int32(7), 'int'],
    ['long', '9007199254740993', Long.fromString('9007199254740993'), 'long'],
    ['double', '7', new Double(7), 'double'],
    ['decimal', '1.10', null, 'decimal'],
    ['date', '2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z'), 'date'],
    ['objectId', '65f0c0ffee0123456789abcd', null, 'objectId'],
    ['boolean', 'false', false, 'bool'],
    ['object', '[1, { x: NumberLong(2) }]', null, 'array'],
  ] as const;
  for (const [type, text, value, name] of typed) {
    await askOfSelection(page);
    await dialog(page).getByLabel('Field', { exact: true }).fill('n');
    await dialog(page).getByLabel('Type').selectOption(type);
    await dialog(page).getByLabel('Value', { exact: true }).fill(text);
    await dialog(page).getByRole('button', { name: 'Change 2 documents' }).click();
    await expect(dialog(page)).toHaveCount(0);
    const kinds = log.aggregate([{ $group: { _id: { $type: '$n' }, n: { $sum: 1 } } }]);
    expect(await kinds.toArray()).toEqual([{ _id: name, n: 2 }]);
    if (value !== null) expect(await log.countDocuments({ n: value } as object)).toBe(2);
  }
});

test('all that fit are changed beyond the first thousand, while they leave the filter', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 1150);
  const filter = encodeURIComponent('WHERE c.user = "bob"');
  await page.goto(`/nosql/app/log/items?filter=${filter}`);
  await expect(page.getByText('more may match')).toBeVisible();
  await askOfAll(page);
  await dialog(page).getByLabel('Field', { exact: true }).fill('user');
  await dialog(page).getByLabel('Value', { exact: true }).fill('eve');
  await dialog(page).getByRole('button', { name: 'Change 1,035 items' }).click();
  await expect(toast(page)).toContainText('Changed a field of 1,035 items');
  // Undo is not offered for this number.
  await expect(toast(page).getByRole('button', { name: /^Undo/ })).toHaveCount(0);
  const left = 'SELECT VALUE COUNT(1) FROM c WHERE c.user = "eve"';
  const { resources } = await container(server).items.query(left).fetchAll();
  expect(resources).toEqual([1035]);
});

test('a change of a field is stopped', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 1200);
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText('1,200 live')).toBeVisible();
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  let asked = 0;
  await page.route(/_portal\/api\/mongo/, async (route) => {
    if (route.request().postDataBuffer()?.includes('updates') === true) {
      asked += 1;
      await held;
    }
    await route.continue().catch(() => {});
  });
  await askOfAll(page);
  await dialog(page).getByLabel('Field', { exact: true }).fill('user');
  await dialog(page).getByLabel('Value', { exact: true }).fill('eve');
  await expect(dialog(page)).toContainText('Undo is available for up to 500 documents');
  await expect(dialog(page)).toContainText('Of the 100 loaded: 100 will change');
  await dialog(page).getByRole('button', { name: 'Change 1,200 documents' }).click();
  await expect.poll(() => asked).toBe(1);
  await dialog(page).getByRole('button', { name: 'Stop' }).click();
  release();
  await expect(dialog(page)).toHaveCount(0);
  // The first batch may have reached the server; the second was never sent.
  const changed = await (await collection(server)).countDocuments({ user: 'eve' });
  expect(changed).toBeLessThanOrEqual(500);
  expect(asked).toBe(1);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the dialog fits', async ({ page, server }) => {
    await nosql.create(server, 3600);
    await nosql.put(server, 'a', { text: 'x'.repeat(300) });
    await page.goto('/nosql/app/log/items');
    await row(page, nosql, 'a').getByRole('checkbox').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Change a field…' }).click();
    await dialog(page).getByLabel('Field', { exact: true }).fill('text');
    await dialog(page).getByLabel('Value', { exact: true }).fill('y'.repeat(300));
    await expect(example(page)).toBeVisible();
    await fontsReady(page);
    const box = await dialog(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    const wide = await dialog(page).evaluate((one) => one.scrollWidth - one.clientWidth);
    expect(wide).toBeLessThanOrEqual(0);
    await dialog(page).getByRole('button', { name: 'Change 1 item' }).click();
    await expect.poll(() => nosql.get(server, 'a')).toEqual({ text: 'y'.repeat(300) });
  });
});
