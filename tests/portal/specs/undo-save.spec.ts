// Undo of a save by its notice, unless another client has changed the item since.
import type { Locator, Page } from '@playwright/test';
import { DOORS, type Door } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, saveItem, write } from '../lib/items';

const toasts = (page: Page) => page.getByRole('region', { name: 'Notifications' });
const undo = (page: Page) => toasts(page).getByRole('button', { name: /^Undo/ });

async function change(page: Page, pane: Locator, door: Door, color: string) {
  await write(page, editor(pane), door.text('one', `"color": "${color}"`));
  await saveItem(page, pane, `updated ${door.noun} ${door.label('one')}`);
}

for (const door of DOORS) {
  const list = `/${door.name}/app/log/items`;

  test(`${door.noun}: a save is taken back, in the pane and in the list`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red', more: [1, { a: 2 }] });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await change(page, pane, door, 'blue');
    expect(await door.get(server, 'one')).toEqual({ color: 'blue' });
    await undo(page).press('Enter');
    await expect(toasts(page)).toContainText(`Restored ${door.noun} ${door.label('one')}`);
    expect(await door.get(server, 'one')).toEqual({ color: 'red', more: [1, { a: 2 }] });
    await expect(editor(pane)).toContainText('red');
    await expect(pane.getByText('unsaved')).toHaveCount(0);
    await expect(page.getByRole('gridcell', { name: 'red', exact: true })).toBeVisible();
  });

  test(`${door.noun}: what somebody else has saved since stays`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await change(page, pane, door, 'blue');
    await door.put(server, 'one', { color: 'theirs' });
    await undo(page).click();
    await expect(toasts(page)).toContainText('It has changed since; showing the latest version.');
    expect(await door.get(server, 'one')).toEqual({ color: 'theirs' });
    await expect(editor(pane)).toContainText('theirs');
  });

  test(`${door.noun}: discarded changes come back`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    const discarded = async () => {
      await write(page, editor(pane), door.text('one', '"color": "mine"'));
      await pane.getByRole('button', { name: 'Discard' }).click();
      await expect(editor(pane)).toContainText('red');
      await expect(toasts(page)).toContainText(`Discarded the changes to ${door.noun}`);
    };
    await discarded();
    await undo(page).click();
    await expect(editor(pane)).toContainText('mine');
    await expect(pane.getByText('unsaved')).toBeVisible();
    // If the item was closed, the draft is kept for the next time.
    await discarded();
    await pane.getByRole('button', { name: 'Close' }).click();
    await undo(page).click();
    await openItem(page, door, 'one');
    await expect(editor(pane)).toContainText('mine');
    expect(await door.get(server, 'one')).toEqual({ color: 'red' });
  });

  test(`${door.noun}: a deleted one is not made anew by Undo`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await change(page, pane, door, 'blue');
    await pane.getByRole('button', { name: 'Close' }).click();
    await door.remove(server, 'one');
    await undo(page).click();
    await expect(toasts(page)).toContainText(`The ${door.noun} no longer exists.`);
    expect(await door.get(server, 'one')).toBeNull();
    await expect(page.getByRole('gridcell', { name: 'blue' })).toHaveCount(0);
  });
}
