// Phones: the list keeps most of the height, and the bar's overflow is in one menu.
import type { Locator, Page } from '@playwright/test';
import { DOORS, fillWith, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { row, rows } from '../lib/items';
import { fontsReady } from '../lib/layout';
import { KEYED, READER, signIn } from '../lib/login';

test.use({ viewport: { width: 390, height: 844 } });

/** Returns the number of lines of a bar. */
async function lines(bar: Locator): Promise<number> {
  await fontsReady(bar.page());
  return bar.evaluate((element) => {
    const boxes = [...element.querySelectorAll('button, input, select, .items-count, .hint')]
      .map((part) => part.getBoundingClientRect())
      .filter(({ width, height }) => width > 1 && height > 1)
      .map(({ top, height }) => top + height / 2);
    return boxes.filter((at, n) => !boxes.slice(0, n).some((other) => Math.abs(other - at) < 16))
      .length;
  });
}

const more = (page: Page) => page.getByRole('button', { name: 'More', exact: true });

/** Opens the menu by keyboard and chooses an entry. */
async function chooseByKey(page: Page, name: string | RegExp): Promise<void> {
  await more(page).focus();
  await page.keyboard.press('Enter');
  const item = page.getByRole('menu', { name: 'More' }).getByRole('menuitem', { name });
  for (let step = 0; step < 12; step += 1) {
    if (await item.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await expect(item).toBeFocused();
  await page.keyboard.press('Enter');
}

for (const door of DOORS) {
  test(`the bars of the list, ${door.name}`, async ({ page, server }) => {
    await door.create(server, 600);
    await fillWith(server, door, 120);
    const filter = door.name === 'mongo' ? '{"user":"bob"}' : 'WHERE c.user = "bob"';
    for (const query of ['', `?filter=${encodeURIComponent(filter)}`, '?show=hour']) {
      await page.goto(`/${door.name}/app/log/items${query}`);
      await expect(rows(page).first()).toBeVisible();
      await expect(page.locator('.items-filter-editor .cm-content')).toBeVisible();
      expect(await lines(page.locator('.items-filter'))).toBe(1);
      expect(await lines(page.locator('.items-bar'))).toBeLessThanOrEqual(2);
    }
    const head = page.getByRole('columnheader').nth(1);
    await expect(head).toHaveText(/^Expires/);
    await expect(head).toBeInViewport({ ratio: 0.95 });
  });

  test(`the menu of the list by keyboard, ${door.name}`, async ({ page, server }) => {
    await door.create(server, 600);
    await fillWith(server, door, 120);
    await page.goto(`/${door.name}/app/log/items`);
    await expect(rows(page).first()).toBeVisible();
    await chooseByKey(page, /^Columns/);
    const columns = page.getByRole('region', { name: 'Columns' });
    await expect(columns.getByRole('searchbox')).toBeFocused();
    await expect(columns).toBeInViewport({ ratio: 1 });
    await page.keyboard.press('Escape');
    await expect(columns).toBeHidden();
    await expect(more(page)).toBeFocused();
    for (const [name, title] of [
      ['Import…', /^Import/],
      ['Export…', /^Export/],
      ['Delete all…', /^Delete/],
    ] as const) {
      await chooseByKey(page, name);
      await expect(page.getByRole('dialog')).toContainText(title);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await expect(more(page)).toBeFocused();
    }
    await chooseByKey(page, 'Load all');
    await expect(page.locator('.items-count')).toContainText('120');
  });
}

test('what is selected, and an item that lies over the list', async ({ page, server }) => {
  await mongo.create(server, 600);
  await fillWith(server, mongo, 5);
  await page.goto('/mongo/app/log/items');
  for (const id of ['n001', 'n002']) await row(page, mongo, id).getByRole('checkbox').click();
  const bar = page.getByRole('toolbar', { name: 'Selection' });
  await expect(bar).toContainText('2 documents selected');
  expect(await lines(bar)).toBe(1);
  expect(await bar.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  const rest = bar.getByRole('button', { name: 'More' });
  await rest.focus();
  await page.keyboard.press('Enter');
  const items = page.getByRole('menu', { name: 'Selected rows' }).getByRole('menuitem');
  await expect(items).toHaveText([
    'Restart countdown…',
    'Set ttl…',
    'Change a field…',
    'Export…',
    'Clear selection',
  ]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(rest).toBeFocused();
  // The list's bars are hidden while an item is open.
  await row(page, mongo, 'n003').locator('[data-column="_id"]').click();
  await expect(page.getByRole('heading', { name: '"n003"' })).toBeFocused();
  await expect(bar).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(bar).toBeVisible();
});

test('no page is wider than the window, and all views of a collection are in sight', async ({
  page,
  server,
}) => {
  await mongo.create(server, 600);
  await fillWith(server, mongo, 5);
  for (const path of ['/', '/monitor', '/mongo/app', '/mongo/app/log/metrics']) {
    await page.goto(path);
    await expect(page.getByRole('heading').first()).toBeVisible();
    const wide = (at: string) =>
      page.locator(at).evaluateAll((boxes) => boxes.filter((b) => b.scrollWidth > b.clientWidth));
    await expect.poll(async () => (await wide('.page, .home-card, .figure')).length).toBe(0);
  }
  for (const name of ['Items', 'Schema', 'Scale & settings', 'Query', 'Metrics'])
    await expect(page.getByRole('tab', { name, exact: true })).toBeInViewport({ ratio: 1 });
  // Two figures are side by side.
  await fontsReady(page);
  const [first, second] = [page.locator('.figure').first(), page.locator('.figure').nth(1)];
  expect((await first.boundingBox())?.y).toBe((await second.boundingBox())?.y);
});

/** Chooses an entry of the top bar's menu by keyboard. */
async function fromHead(page: Page, name: string): Promise<void> {
  const button = page.getByRole('banner').getByRole('button', { name: 'Menu' });
  await button.focus();
  await page.keyboard.press('Enter');
  const menu = page.getByRole('menu', { name: 'Menu' });
  const item = menu.getByRole('menuitem', { name, exact: true });
  for (let step = 0; step < 8; step += 1) {
    if (await item.evaluate((element) => element === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await expect(item).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(menu).toHaveCount(0);
}

test.describe('the head', () => {
  test.use({ options: KEYED });

  test('is one line, however narrow the window is, and its menu has the rest', async ({ page }) => {
    await page.goto('/');
    await signIn(page, READER);
    const head = page.getByRole('banner');
    await expect(head.getByText('read-only')).toBeVisible();
    await expect(head.getByText('manual')).toBeVisible();
    await fontsReady(page);
    for (const width of [760, 620, 500, 430, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await expect(head.getByRole('button', { name: 'Menu' })).toBeInViewport({ ratio: 1 });
      const box = await head.boundingBox();
      expect(box?.height, `${width} px`).toBeLessThan(56);
      expect(await head.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    }
    for (const button of await head.getByRole('button').all()) {
      const box = await button.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
    }
    await fromHead(page, 'Metrics');
    await expect(page).toHaveURL(/\/monitor$/);
    await fromHead(page, 'Theme: Dark');
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
    await head.getByRole('button', { name: 'Menu' }).click();
    const items = page.getByRole('menu', { name: 'Menu' }).getByRole('menuitem');
    for (const item of await items.all()) {
      expect((await item.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    }
    const current = page.getByRole('menu', { name: 'Menu' }).locator('[aria-current=true]');
    await expect(current).toHaveText(['Metrics', 'Theme: Dark']);
    await page.keyboard.press('Escape');
    await expect(head.getByRole('button', { name: 'Menu' })).toBeFocused();
    for (const theme of ['Theme: Dark', 'Theme: Light']) {
      await fromHead(page, theme);
      await head.getByRole('button', { name: 'Menu' }).click();
      await innocent(page, `the menu in the head of a narrow window, ${theme}`);
      // A wide window has no such menu.
      await expect(items).toHaveCount(0);
      await expect(head.getByRole('combobox', { name: 'Theme' })).toBeVisible();
      await page.setViewportSize({ width: 390, height: 844 });
    }
    await fromHead(page, 'Sign out');
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  });
});

test('what can be done to an index is in sight', async ({ page, server }) => {
  await mongo.create(server, 600);
  await (await server.mongo()).db('app').collection('log').createIndex({ n: 1 });
  await page.goto('/mongo/app/log/settings?section=indexes');
  for (const name of ['Hide n_1', 'Drop n_1'])
    await expect(page.getByRole('button', { name })).toBeInViewport({ ratio: 1 });
  await page.getByRole('button', { name: 'Drop n_1' }).click();
  await expect(page.getByRole('dialog', { name: /^Drop/ })).toBeVisible();
});
