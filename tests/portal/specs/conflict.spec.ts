// An item changed by two users: field-by-field differences, a choice for conflicts, and the merged
// result, in either API, by keyboard and on a phone.
import type { Locator, Page } from '@playwright/test';
import { DOORS, type Door, type Fields } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, openItem, write } from '../lib/items';
import { noted } from '../lib/pane';
import type { Server } from '../lib/server';

const BEFORE = { user: 'ada', n: 1, at: { city: 'Bonn', zip: 1 }, tags: ['a'], old: true };

/** Opens an item, changes it through the client, and saves other changes on the page. */
async function collide(
  page: Page,
  server: Server,
  door: Door,
  change: { theirs: Fields; mine: string },
): Promise<{ pane: Locator; conflict: Locator }> {
  await door.create(server, null);
  await door.put(server, 'one', BEFORE);
  await page.goto(`/${door.name}/app/log/items`);
  const pane = await openItem(page, door, 'one');
  await write(page, editor(pane), door.text('one', change.mine));
  await door.put(server, 'one', change.theirs);
  await pane.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = pane.getByRole('region', { name: 'Conflict' });
  await expect(conflict).toContainText('changed by someone else');
  return { pane, conflict };
}

const row = (conflict: Locator, path: string) =>
  conflict
    .getByRole('row')
    .filter({ has: conflict.page().getByRole('rowheader', { name: path, exact: true }) });
const cell = (conflict: Locator, path: string, at: number) =>
  row(conflict, path).getByRole('cell').nth(at);
const saveMerged = (conflict: Locator) =>
  conflict.getByRole('button', { name: 'Save merged', exact: true });

/** Theirs changes n and city and adds a field; mine changes n, zip and tags and removes `old`. */
const BOTH = {
  theirs: { ...BEFORE, n: 2, at: { city: 'Kiel', zip: 1 }, by: 'bob' },
  mine: '"user": "ada", "n": 3, "at": { "city": "Bonn", "zip": 9 }, "tags": ["a", "b"]',
};

for (const door of DOORS) {
  test(`${door.name}: changes of both are merged`, async ({ page, server }) => {
    const { conflict } = await collide(page, server, door, BOTH);
    const heads = conflict.getByRole('rowheader');
    await expect(heads).toHaveText(['n', 'at.city', 'at.zip', 'tags', 'old', 'by']);
    for (const [at, text] of ['1', '2', '3'].entries())
      await expect(cell(conflict, 'n', at)).toContainText(text);
    await expect(cell(conflict, 'at.city', 1)).toContainText('"Kiel" will be kept');
    await expect(cell(conflict, 'at.zip', 2)).toContainText('9 will be kept');
    await expect(cell(conflict, 'old', 2)).toContainText('missing will be kept');
    await expect(cell(conflict, 'by', 0)).toHaveText('missing');
    await expect(conflict).toContainText('1 field changed on both sides: 1 to resolve.');
    await expect(saveMerged(conflict)).toBeDisabled();
    await conflict.getByRole('radio', { name: 'Theirs, n: 2' }).check();
    await expect(conflict).toContainText('all resolved');
    await saveMerged(conflict).click();
    await noted(page, /Successfully updated/);
    await expect(conflict).toHaveCount(0);
    const merged = { user: 'ada', n: 2, at: { city: 'Kiel', zip: 9 }, tags: ['a', 'b'], by: 'bob' };
    expect(await door.get(server, 'one')).toEqual(merged);
    await expect(page.getByText('unsaved', { exact: true })).toHaveCount(0);
    await expect(editor(page)).toContainText('Kiel');
  });

  test(`${door.name}: who goes on editing is asked again`, async ({ page, server }) => {
    const { pane, conflict } = await collide(page, server, door, BOTH);
    await conflict.getByRole('button', { name: 'Keep editing' }).click();
    await expect(conflict).toHaveCount(0);
    await expect(editor(pane)).toBeFocused();
    // Once with the known change, and once after a further one.
    for (const n of [2, 8]) {
      if (n === 8) await door.put(server, 'one', { ...BOTH.theirs, n });
      await page.keyboard.press('Control+s');
      await expect(conflict).toContainText('changed by someone else');
      await expect(cell(conflict, 'n', 1)).toContainText(String(n));
      expect(await door.get(server, 'one')).toEqual({ ...BOTH.theirs, n });
      await conflict.getByRole('button', { name: 'Keep editing' }).click();
    }
  });

  test(`${door.name}: a merge by keyboard, on a phone`, async ({ page, server }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    const { conflict } = await collide(page, server, door, {
      theirs: { ...BEFORE, n: 2, user: 'bob' },
      mine: '"user": "eve", "n": 3, "at": { "city": "Bonn", "zip": 1 }, "tags": ["a"], "old": true',
    });
    await expect(conflict).toContainText('2 to resolve');
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(390);
    const table = conflict.getByRole('region', { name: 'Differences' });
    await expect
      .poll(() => table.evaluate((one) => one.scrollWidth - one.clientWidth))
      .toBeLessThanOrEqual(0);
    await table.focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await expect(conflict.getByRole('radio', { name: 'Theirs, user: "bob"' })).toBeChecked();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await expect(conflict.getByRole('radio', { name: 'Mine, n: 3' })).toBeChecked();
    await saveMerged(conflict).focus();
    await page.keyboard.press('Enter');
    await noted(page, /Successfully updated/);
    expect(await door.get(server, 'one')).toEqual({ ...BEFORE, user: 'bob', n: 3 });
  });

  test(`${door.name}: changed again while it is merged`, async ({ page, server }) => {
    const { conflict } = await collide(page, server, door, BOTH);
    await conflict.getByRole('radio', { name: 'Mine, n: 3' }).check();
    await door.put(server, 'one', { ...BOTH.theirs, n: 7 });
    await saveMerged(conflict).click();
    // The choice was made for another value, so it is asked again.
    await expect(cell(conflict, 'n', 1)).toContainText('7');
    await expect(conflict).toContainText('1 to resolve');
    expect(await door.get(server, 'one')).toMatchObject({ n: 7 });
    await conflict.getByRole('button', { name: 'Use theirs' }).click();
    await expect(editor(page)).toContainText('7');
    await expect(conflict).toHaveCount(0);
  });

  test(`${door.name}: a text that cannot be read is not merged`, async ({ page, server }) => {
    const { pane, conflict } = await collide(page, server, door, BOTH);
    await conflict.getByRole('radio', { name: 'Mine, n: 3' }).check();
    await write(page, editor(pane), '{ "n":\n }');
    await expect(conflict).toContainText('Your text cannot be merged: line 2:');
    await expect(saveMerged(conflict)).toBeDisabled();
    await expect(conflict.getByRole('row')).toHaveCount(0);
    await write(page, editor(pane), door.text('one', '"n": 4'));
    await expect(row(conflict, 'user')).toContainText('missing');
  });

  test(`${door.name}: the conflict has no fault that axe finds`, async ({ page, server }) => {
    const { conflict } = await collide(page, server, door, BOTH);
    await expect(conflict.getByRole('row')).toHaveCount(7);
    await innocent(page, `${door.name}: conflict of an item`);
  });
}

test('mongo: types of BSON are kept by a merge', async ({ page, server }) => {
  const { conflict } = await collide(page, server, DOORS[1] as Door, {
    theirs: { ...BEFORE, user: 'bob' },
    mine: '"user": "ada", "n": NumberLong("5"), "at": { "city": "Bonn", "zip": 1 }, "tags": ["a"], "old": true, "when": { "$date": "2026-01-01T00:00:00Z" }',
  });
  await expect(conflict).toContainText('No conflicts: all changes can be merged');
  await saveMerged(conflict).click();
  await noted(page, /Successfully updated/);
  const log = (await server.mongo()).db('app').collection<{ _id: string }>('log');
  const types = await log
    .aggregate([
      {
        $project: {
          user: 1,
          n: { $type: '$n' },
          zip: { $type: '$at.zip' },
          when: { $type: '$when' },
        },
      },
    ])
    .toArray();
  expect(types).toEqual([{ _id: 'one', user: 'bob', n: 'long', zip: 'int', when: 'date' }]);
});
