// Outcomes are shown as notices and can be dismissed; failures stay in the page.
import type { Locator, Page } from '@playwright/test';
import { DOORS, fillWith, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, rows, saveItem, write } from '../lib/items';
import { typeOver } from '../lib/keyboard';

test('an outcome shows in the corner and is closed by the keyboard', async ({ page, server }) => {
  await page.goto(`${server.url}/features`);
  await page.getByRole('switch').first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  const toasts = page.getByRole('region', { name: 'Notifications' });
  const said = 'Per-document TTL for MongoDB collections is off now';
  await expect(toasts.getByText(said)).toBeVisible();
  await toasts.getByRole('button', { name: `Dismiss: ${said}` }).press('Enter');
  await expect(toasts.getByText(said)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Console' })).toContainText(said);
});

test('the type is of the portal itself', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('heading').first()).toBeVisible();
  const isLoaded = () => page.evaluate(() => document.fonts.check("14px 'Inter Latin'"));
  await expect.poll(isLoaded).toBe(true);
  const foreign = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(location.origin)),
  );
  expect(foreign).toEqual([]);
});

const corner = (page: Page) => page.getByRole('region', { name: 'Notifications' });
/** Returns the distance in px from an element's end to the first notice; negative: covered. */
async function roomBelow(page: Page, what: Locator): Promise<number> {
  const [box, top] = [await what.boundingBox(), await corner(page).boundingBox()];
  return (top?.y ?? 0) - (box?.y ?? 0) - (box?.height ?? 0);
}

for (const [width, height] of [
  [1440, 900],
  [390, 844],
] as const) {
  test(`notices hide neither the last row nor the end of an item at ${width} px`, async ({
    page,
    server,
  }) => {
    await page.setViewportSize({ width, height });
    await nosql.create(server, 7200);
    await fillWith(server, nosql, 60);
    await page.goto('/nosql/app/log/items?sort=n');
    await expect(rows(page).first()).toBeVisible();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    const last = rows(page).last();
    await expect(last).toHaveAttribute('aria-rowindex', '61');
    await expect(last).toBeInViewport();
    // A list scrolled to its end stays there when a notice appears.
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('F2');
    await typeOver(page, '1000');
    await page.keyboard.press('Enter');
    await expect(corner(page).getByRole('button', { name: /^Undo/ })).toBeVisible();
    await expect.poll(() => roomBelow(page, last)).toBeGreaterThanOrEqual(0);
    // The active row is never below the notice.
    for (const key of ['PageUp', 'PageDown', 'ArrowUp', 'ArrowUp', 'ArrowDown']) {
      await page.keyboard.press(key);
      const active = page.locator('.items-row.items-active');
      await expect.poll(() => roomBelow(page, active)).toBeGreaterThanOrEqual(0);
    }
    await corner(page)
      .getByRole('button', { name: /^Dismiss/ })
      .first()
      .click();
    await expect(corner(page).getByRole('button')).toHaveCount(0);
    const padding = () =>
      page.getByRole('grid').evaluate((grid) => getComputedStyle(grid).paddingBottom);
    await expect.poll(padding).toBe('0px');

    await page.keyboard.press('Home');
    const pane = await openItem(page, nosql, 'n000');
    await write(page, editor(pane), nosql.text('n000', '"n": 1'));
    await saveItem(page, pane, 'updated item n000');
    const end = pane.getByText('System properties');
    await expect(corner(page).getByRole('button', { name: /^Undo/ })).toBeVisible();
    await page.mouse.move(width - 60, height / 2);
    await page.mouse.wheel(0, 5000);
    await expect.poll(() => roomBelow(page, end)).toBeGreaterThanOrEqual(0);
  });
}

/** Changes cell n of the only row, and waits for the result. */
async function change(page: Page, value: string) {
  const cell = page.locator('[role=gridcell][data-column=n]');
  await cell.dblclick();
  await typeOver(page, value);
  await page.keyboard.press('Enter');
  await expect(cell).toHaveText(value);
}

for (const door of DOORS) {
  test(`${door.noun}: edits one after the other share a notice, and each is undone by itself`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    for (const value of ['2', '3', '4', '5']) await change(page, value);
    const dismiss = corner(page).getByRole('button', { name: /^Dismiss/ });
    await expect(dismiss).toHaveCount(1);
    await expect(corner(page)).toContainText('4 → 5');
    await expect(corner(page)).not.toContainText('3 → 4');
    // Screen readers are notified only of the newest.
    const heard = page.locator('[aria-live=polite]').filter({ hasText: '→' });
    await expect(heard).toHaveText(/4 → 5$/);
    await expect(corner(page).locator('[aria-live], [role=status], [role=alert]')).toHaveCount(0);

    const undo = corner(page).getByRole('button', { name: /^Undo/ });
    await undo.press('Enter');
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 4 });
    // A second press hits another button, so nothing else is undone.
    await expect(corner(page)).toContainText('Restored n of');
    await expect(dismiss).toHaveCount(1);
    await expect(undo).toHaveCount(0);
    const earlier = corner(page).getByRole('button', { name: '3 earlier can be undone' });
    await earlier.press('Enter');
    await expect(undo).toHaveCount(3);
    const entry = corner(page).getByRole('listitem').filter({ hasText: '3 → 4' });
    await entry.getByRole('button', { name: /^Undo/ }).press('Enter');
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 3 });
    await expect(corner(page).getByRole('listitem')).toHaveCount(2);
    await dismiss.click();
    await expect(corner(page).getByRole('button')).toHaveCount(0);
  });

  test(`${door.noun}: two saves of one ${door.noun} are taken back one after the other`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    for (const n of [2, 3]) {
      await write(page, editor(pane), door.text('one', `"n": ${n}`));
      await pane.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => door.get(server, 'one')).toEqual({ n });
      await expect(pane.getByText('unsaved')).toHaveCount(0);
    }
    const undo = corner(page).getByRole('button', { name: /^Undo/ });
    await undo.click();
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 2 });
    await corner(page).getByRole('button', { name: '1 earlier can be undone' }).click();
    await undo.click();
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 1 });
    await expect(editor(pane)).toContainText('1');
  });
}

test('of more than can be in sight, what can be undone is one press away', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  const names = ['a', 'b', 'c', 'd', 'e'];
  const kept = names.map((name) => ({ name, texts: { text: `SELECT ${name}` } }));
  await page.addInitScript((saved) => {
    localStorage.setItem('ebb:saved:nosql/app/log', saved);
  }, JSON.stringify(kept));
  await page.goto('/nosql/app/log/query');
  await page.getByRole('tab', { name: 'Saved' }).click();
  for (const name of names)
    await page.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
  const dismiss = corner(page).getByRole('button', { name: /^Dismiss/ });
  await expect(dismiss).toHaveCount(3);
  await expect(corner(page)).toContainText('“e”');
  const more = corner(page).getByRole('button', { name: '2 more can be undone' });
  await more.press('Enter');
  await expect(dismiss).toHaveCount(5);
  const first = corner(page).locator('.toast').filter({ hasText: '“a”' });
  await first.getByRole('button', { name: /^Undo/ }).press('Enter');
  await expect(page.getByRole('button', { name: 'Delete a', exact: true })).toBeVisible();
});
