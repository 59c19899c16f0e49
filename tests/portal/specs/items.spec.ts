// Creating, changing and deleting items and documents; conflicts with other clients, and expiry.

import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, row, rows, saveItem, write } from '../lib/items';

for (const door of DOORS) {
  const { Noun, noun, text } = door;

  test(`${noun}: made, changed and deleted`, async ({ page, server }) => {
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/items`);
    await expect(page.getByText(`There are no ${noun}s.`)).toBeVisible();
    await page.getByRole('button', { name: `New ${Noun}` }).click();
    const anew = page.getByRole('region', { name: `New ${Noun}` });
    await write(page, editor(anew), text('one', '"n": 1'));
    await saveItem(page, anew, `created ${noun} ${door.label('one')}`);
    expect(await door.get(server, 'one')).toEqual({ n: 1 });
    await expect(row(page, door, 'one')).toHaveCount(1);

    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), text('one', '"n": 2, "deep": { "er": [1, "two"] }'));
    await expect(pane.getByText('unsaved')).toBeVisible();
    await saveItem(page, pane, `updated ${noun} ${door.label('one')}`);
    expect(await door.get(server, 'one')).toEqual({ n: 2, deep: { er: [1, 'two'] } });
    await expect(pane.getByText('unsaved')).toHaveCount(0);

    await write(page, editor(pane), '{ "n": ');
    await expect(pane.locator('.items-error')).toContainText('Line 1:');
    await pane.getByRole('button', { name: 'Save', exact: true }).click();
    // Shown once, and announced once more to screen readers.
    await expect(pane.getByRole('status').filter({ hasText: 'Line 1:' })).toHaveCount(2);
    await expect(pane.getByRole('alert')).toHaveCount(0);
    expect(await door.get(server, 'one')).toEqual({ n: 2, deep: { er: [1, 'two'] } });
    await pane.getByRole('button', { name: 'Discard' }).click();
    await expect(editor(pane)).toContainText('er');
    expect(await door.get(server, 'one')).toEqual({ n: 2, deep: { er: [1, 'two'] } });

    const dialog = page.getByRole('dialog');
    await pane.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await door.ids(server)).toEqual(['one']);
    await pane.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect(rows(page)).toHaveCount(0);
    await expect(pane).toHaveCount(0);
    expect(await door.ids(server)).toEqual([]);
  });

  test(`${noun}: changed by somebody else`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    const save = pane.getByRole('button', { name: 'Save', exact: true });
    const conflict = pane.getByRole('region', { name: 'Conflict' });
    await write(page, editor(pane), text('one', '"n": "mine"'));
    await door.put(server, 'one', { n: 'theirs' });
    await save.click();
    await expect(conflict.getByRole('table')).toContainText('"theirs"');
    await expect(editor(pane)).toContainText('mine');
    expect(await door.get(server, 'one')).toEqual({ n: 'theirs' });
    await conflict.getByRole('button', { name: 'Use theirs' }).click();
    await expect(conflict).toHaveCount(0);
    await expect(editor(pane)).toContainText('theirs');
    await expect(save).toBeDisabled();

    await write(page, editor(pane), text('one', '"n": "mine again"'));
    await door.put(server, 'one', { n: 'third' });
    await save.click();
    await conflict.getByRole('button', { name: 'Overwrite with mine' }).click();
    await expect(conflict).toHaveCount(0);
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 'mine again' });
  });

  test(`${noun}: dies while it is open`, async ({ page, server }) => {
    await door.create(server, 60);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), text('one', '"n": "half a thou"'));
    await server.advance(60);
    await expect(pane.getByText(`This ${noun} expired at `)).toBeVisible();
    await expect(row(page, door, 'one')).toHaveCount(0);
    await expect(editor(pane)).toContainText('half a thou');
    await editor(pane).focus();
    await page.keyboard.press('Control+End');
    for (let at = 0; at < 3; at += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('ght');
    expect(await door.ids(server)).toEqual([]);
    await pane.getByRole('button', { name: 'Create again' }).click();
    await expect(row(page, door, 'one')).toHaveCount(1);
    expect(await door.get(server, 'one')).toEqual({ n: 'half a thought' });
  });

  test(`${noun}: what is typed while it is saved stays`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    const save = pane.getByRole('button', { name: 'Save', exact: true });
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route(/_portal\/api\/(mongo|nosql)/, async (route) => {
      if (route.request().method() !== 'GET') await held;
      await route.continue();
    });
    await write(page, editor(pane), text('one', '"n": "first"'));
    await page.keyboard.press('Control+Enter');
    await expect(save).toHaveAttribute('aria-busy', 'true');
    await write(page, editor(pane), text('one', '"n": "second"'));
    release();
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 'first' });
    await expect(save).not.toHaveAttribute('aria-busy');
    await expect(editor(pane)).toContainText('second');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 'second' });
    await expect(save).toBeDisabled();
  });
}
