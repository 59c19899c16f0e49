// Bulk changes: items selected by mouse, keyboard or filter are deleted with undo if TTL is on, get
// another ttl, or are exported.
import type { Page } from '@playwright/test';
import { DOORS, fillWith, mongo, numbered } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { row, rows } from '../lib/items';

const bar = (page: Page) => page.getByRole('toolbar', { name: 'Selection' });
const dialog = (page: Page) => page.getByRole('dialog');
const toast = (page: Page) => page.getByRole('region', { name: 'Notifications' });

for (const door of DOORS) {
  const { noun } = door;

  test(`${noun}s: a deletion is undone, or runs out`, async ({ page, server }) => {
    await door.create(server, 7200);
    await door.put(server, 'keeps', { ttl: 3600 });
    await door.put(server, 'inherits', { n: 1 });
    await door.put(server, 'never', { ttl: -1 });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(rows(page)).toHaveCount(3);
    // By keyboard only.
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await expect(bar(page)).toContainText(`3 ${noun}s selected`);
    await page.keyboard.press('Delete');
    await expect(dialog(page)).toContainText('Until then Undo restores them');
    await dialog(page)
      .getByRole('button', { name: `Delete 3 ${noun}s` })
      .click();
    await expect(rows(page)).toHaveCount(0);
    await expect(page.getByText('0 live')).toBeVisible();
    expect(await door.get(server, 'inherits')).toEqual({ n: 1, ttl: 60 });
    // A concurrent change of one of them.
    await door.put(server, 'never', { ttl: 60, n: 2 });
    await toast(page).getByRole('button', { name: /^Undo/ }).click();
    await expect(rows(page)).toHaveCount(2);
    await expect(toast(page)).toContainText('1 changed by others');
    expect(await door.get(server, 'keeps')).toEqual({ ttl: 3600 });
    expect(await door.get(server, 'inherits')).toEqual({ n: 1 });
    expect(await door.get(server, 'never')).toEqual({ ttl: 60, n: 2 });

    // Deleted items can be shown until they expire.
    await row(page, door, 'keeps').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await expect(rows(page)).toHaveCount(1);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect(row(page, door, 'keeps')).toContainText('01:00');
    // A reload does not show deleted items again.
    await page.reload();
    await expect(page.getByText(/^2 deleted, expiring within \d+ s/)).toBeVisible();
    await expect(rows(page)).toHaveCount(1);
    await server.advance(60);
    await expect(rows(page)).toHaveCount(1);
    await expect(page.getByText(/deleted, expiring within/)).toHaveCount(0);
    expect(await door.ids(server)).toEqual(['inherits']);
  });

  test(`${noun}s: without TTL a deletion is for good, and says so`, async ({ page, server }) => {
    await door.create(server, null);
    for (const id of ['a', 'b', 'c']) await door.put(server, id, { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    await row(page, door, 'a').getByRole('checkbox').click();
    await row(page, door, 'b').getByRole('checkbox').click();
    await bar(page).getByRole('button', { name: 'Delete…' }).click();
    await expect(dialog(page)).toContainText('TTL is off here: they are deleted immediately');
    await dialog(page)
      .getByRole('button', { name: `Delete 2 ${noun}s` })
      .click();
    await expect(rows(page)).toHaveCount(1);
    expect(await door.ids(server)).toEqual(['c']);
  });

  test(`${noun}s: all that fit a filter`, async ({ page, server }) => {
    await door.create(server, 7200);
    await fillWith(server, door, 250);
    const filter = door === mongo ? '{ user: "ada" }' : 'WHERE c.user = "ada"';
    await page.goto(`/${door.name}/app/log/items?filter=${encodeURIComponent(filter)}`);
    await expect(page.getByText(`25 ${noun}s match`, { exact: true })).toBeVisible();
    const all = page.getByRole('button', { name: 'All matching…' });
    await all.click();
    await page.getByRole('menuitem', { name: 'Set ttl of all…' }).click();
    await expect(dialog(page)).toContainText(`25 ${noun}s`);
    await dialog(page).getByLabel('Time to live in seconds').fill('2h');
    await dialog(page).getByRole('button', { name: 'Set ttl' }).click();
    await expect(toast(page)).toContainText(`Set ttl of 25 ${noun}s`);
    expect(await door.get(server, numbered(10))).toEqual({ n: 10, user: 'ada', ttl: 7200 });
    expect(await door.get(server, numbered(11))).toEqual({ n: 11, user: 'bob' });
    // They would expire before undo: needs a typed confirmation.
    await all.click();
    await page.getByRole('menuitem', { name: 'Set ttl of all…' }).click();
    await expect(dialog(page).getByRole('button', { name: 'Set ttl' })).toBeDisabled();
    await dialog(page).getByLabel('Time to live in seconds').fill('1');
    await expect(dialog(page).getByRole('button', { name: 'Set ttl' })).toBeDisabled();
    await dialog(page)
      .getByLabel(/^Type the name of the/)
      .fill('log');
    await expect(dialog(page).getByRole('button', { name: 'Set ttl' })).toBeEnabled();
    await page.keyboard.press('Escape');
    await all.click();
    await page.getByRole('menuitem', { name: 'Delete all…' }).click();
    await dialog(page)
      .getByRole('button', { name: `Delete 25 ${noun}s` })
      .click();
    await expect(rows(page)).toHaveCount(0);
    await expect(page.getByText(`No matching other ${noun}s.`)).toBeVisible();
    await server.advance(60);
    expect((await door.ids(server)).length).toBe(225);
  });

  test(`${noun}s: selected with Shift and Ctrl, and to be saved`, async ({ page, server }) => {
    await door.create(server, null);
    for (const id of ['a', 'b', 'c', 'd']) await door.put(server, id, { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    await row(page, door, 'a').getByRole('checkbox').click();
    await row(page, door, 'c').click({ modifiers: ['Shift'] });
    await expect(bar(page)).toContainText('3 ');
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+A');
    await expect(bar(page)).toContainText('4 ');
    await bar(page).getByRole('button', { name: 'Export…' }).click();
    await expect(dialog(page)).toContainText(`4 ${noun}s`);
    await page.keyboard.press('Escape');
    await bar(page).getByRole('button', { name: 'Clear selection' }).click();
    await expect(bar(page)).toHaveCount(0);
  });
}

test('a change of many is stopped', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 600);
  await page.goto('/mongo/app/log/items');
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  let asked = 0;
  await page.route(/_portal\/api\/mongo/, async (route) => {
    if (route.request().postData()?.includes('deletes') === true) {
      asked += 1;
      await held;
    }
    await route.continue().catch(() => {});
  });
  await page.getByRole('button', { name: 'All matching…' }).click();
  await page.getByRole('menuitem', { name: 'Delete all…' }).click();
  // Undo is impossible for this number: needs a typed confirmation.
  const begin = dialog(page).getByRole('button', { name: 'Delete 600 documents' });
  await expect(begin).toBeDisabled();
  await dialog(page)
    .getByLabel(/^Type the name of the/)
    .fill('log');
  await begin.click();
  await expect.poll(() => asked).toBe(1);
  await dialog(page).getByRole('button', { name: 'Stop' }).click();
  release();
  await expect(dialog(page)).toHaveCount(0);
  // The first batch may have reached the server; the second was never sent.
  expect((await mongo.ids(server)).length).toBeGreaterThanOrEqual(100);
  expect(asked).toBe(1);
});

test('nothing is done to all that fit while rows are left out', async ({ page, server }) => {
  await mongo.create(server, 7200);
  await mongo.put(server, 'kept', { n: 1 });
  await page.goto('/mongo/app/log/items');
  const all = page.getByRole('button', { name: 'All matching…' });
  await expect(all).toBeEnabled();
  const show = page.getByRole('combobox', { name: 'Show' });
  await show.selectOption('never');
  await expect(rows(page)).toHaveCount(0);
  await expect(page.getByText('0 shown')).toBeVisible();
  await expect(all).toBeDisabled();
  await show.selectOption('all');
  await expect(all).toBeEnabled();
});

test('what another server has deleted hides nothing here', async ({ page, server }) => {
  await mongo.create(server, 7200);
  await mongo.put(server, 'kept', { n: 1 });
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(1);
  await page.evaluate(() => {
    const keys = [['"kept"', Date.parse('2999-01-01')]];
    sessionStorage.setItem('ebb-bin', JSON.stringify({ '["mongo","app","log"]': keys }));
  });
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
  // Malformed storage is ignored.
  await page.evaluate(() => sessionStorage.setItem('ebb-bin', '{"a": 1, "b": [[2]]}'));
  await page.reload();
  await expect(rows(page)).toHaveCount(1);
});
