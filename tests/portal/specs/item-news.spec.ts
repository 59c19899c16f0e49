// Another client changes or deletes the open item: the pane detects it, and no input is lost.
import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, openItem, rows, write } from '../lib/items';
import { noted } from '../lib/pane';

for (const door of DOORS) {
  const list = `/${door.name}/app/log/items`;

  test(`${door.noun}: the newest is shown where nothing was typed`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await expect(editor(pane)).toContainText('red');
    await door.put(server, 'one', { color: 'blue' });
    await expect(pane.getByText(/Just changed by another client/)).toBeVisible();
    await expect(editor(pane)).toContainText('blue');
    await expect(pane.getByText('unsaved')).toHaveCount(0);
    // The list shows the same and reports no further change.
    await expect(page.getByRole('gridcell', { name: 'blue', exact: true })).toBeVisible();
    await expect(page.locator('.items-news')).toHaveCount(0);
    await innocent(page, `${door.name}: an item that was changed elsewhere`);
    // A save is based on the version shown.
    await write(page, editor(pane), door.text('one', '"color": "green"'));
    await pane.getByRole('button', { name: 'Save', exact: true }).click();
    await noted(page, /Successfully updated/);
    expect(await door.get(server, 'one')).toEqual({ color: 'green' });
    await expect(pane.getByText(/Just changed by/)).toHaveCount(0);
  });

  test(`${door.noun}: what was typed is merged with what is new`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red', n: 1 });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), door.text('one', '"color": "red", "n": 2'));
    await door.put(server, 'one', { color: 'blue', n: 1 });
    const banner = pane.getByRole('status').filter({ hasText: /has changed since you opened it/ });
    await expect(banner).toBeVisible();
    await expect(editor(pane)).toContainText('red');
    await innocent(page, `${door.name}: a draft of an item that was changed elsewhere`);
    await banner.getByRole('button', { name: 'Compare and merge' }).press('Enter');
    const conflict = pane.getByRole('region', { name: 'Conflict' });
    await expect(conflict).toContainText('No conflicts: all changes can be merged');
    await conflict.getByRole('button', { name: 'Save merged', exact: true }).click();
    await noted(page, /Successfully updated/);
    expect(await door.get(server, 'one')).toEqual({ color: 'blue', n: 2 });
    await expect(banner).toHaveCount(0);
  });

  test(`${door.noun}: what was typed before a reload overwrites nobody`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red', n: 1 });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), door.text('one', '"color": "red", "n": 2'));
    await expect(pane.getByText('unsaved')).toBeVisible();
    await page.goto('about:blank');
    await door.put(server, 'one', { color: 'blue', n: 1 });
    await page.goto(list);
    await openItem(page, door, 'one');
    await expect(editor(pane)).toContainText('red');
    await expect(pane.getByText(/has changed since you opened it/)).toBeVisible();
    // Nor is the change lost by an immediate save.
    await pane.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = pane.getByRole('region', { name: 'Conflict' });
    await expect(conflict).toContainText('No conflicts: all changes can be merged');
    expect(await door.get(server, 'one')).toEqual({ color: 'blue', n: 1 });
    await conflict.getByRole('button', { name: 'Save merged', exact: true }).click();
    await noted(page, /Successfully updated/);
    expect(await door.get(server, 'one')).toEqual({ color: 'blue', n: 2 });
    // Text typed now is based on the new version.
    await write(page, editor(pane), door.text('one', '"color": "blue", "n": 3'));
    await page.reload();
    await openItem(page, door, 'one');
    await pane.getByRole('button', { name: 'Save', exact: true }).click();
    await noted(page, /Successfully updated/);
    expect(await door.get(server, 'one')).toEqual({ color: 'blue', n: 3 });
  });

  test(`${door.noun}: giving up what was typed shows what is new`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), door.text('one', '"color": "green"'));
    await door.put(server, 'one', { color: 'blue' });
    await expect(pane.getByText(/has changed since you opened it/)).toBeVisible();
    await pane.getByRole('button', { name: 'Discard' }).click();
    await expect(editor(pane)).toContainText('blue');
    await expect(pane.getByText(/has changed since you opened it/)).toHaveCount(0);
  });

  test(`${door.noun}: it was deleted while it is open`, async ({ page, server }) => {
    await door.create(server, null);
    for (const id of ['one', 'two']) await door.put(server, id, { color: 'red' });
    await page.goto(list);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), door.text('one', '"color": "kept"'));
    await door.remove(server, 'one');
    await expect(pane.getByRole('alert')).toContainText('no longer exists');
    await expect(editor(pane)).toContainText('kept');
    await expect(rows(page)).toHaveCount(1);
    await pane.getByRole('button', { name: 'Create again' }).click();
    await noted(page, /Successfully created/);
    expect(await door.get(server, 'one')).toEqual({ color: 'kept' });
  });
}
