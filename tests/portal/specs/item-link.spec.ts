// The URL names the open item: it can be shared, survives a reload, and going back closes it.

import { DOORS, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { edit, editor, openItem, rows, saveItem, write } from '../lib/items';
import { noted } from '../lib/pane';

for (const door of DOORS) {
  test(`${door.noun}: its address`, async ({ page, server }) => {
    await door.create(server, null);
    for (const id of ['one', 'a & "c" = ü']) await door.put(server, id, { n: 1 });
    const list = `/${door.name}/app/log/items`;
    await page.goto(list);
    const id = 'a & "c" = ü';
    await openItem(page, door, id);
    await expect(page).toHaveURL(/\?item=/);
    const address = page.url();

    await page.reload();
    const pane = page.getByRole('region', { name: `${door.Noun} ${door.label(id)}`, exact: true });
    await expect(editor(pane)).toContainText('1');
    await edit(page, '"kept": 1');
    await page.reload();
    await expect(editor(pane)).toContainText('"kept": 1');
    await saveItem(page, pane, 'updated');
    expect(await door.get(server, id)).toMatchObject({ kept: 1 });

    await openItem(page, door, 'one');
    await page.getByRole('button', { name: 'Close' }).click();
    await expect(page).toHaveURL(new RegExp(`${list}$`));

    await page.goto('/');
    await page.goto(address);
    await expect(editor(pane)).toBeVisible();
    await page.goto(list);
    await openItem(page, door, 'one');
    await page.goBack();
    await expect(page.getByRole('region', { name: new RegExp(`^${door.Noun} `) })).toHaveCount(0);
    await expect(rows(page)).toHaveCount(2);
    await page.goForward();
    await expect(editor(page)).toBeVisible();
  });

  test(`${door.noun}: the address of what was made, and of what is gone`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await page.goto(`/${door.name}/app/log/items`);
    await page.getByRole('button', { name: `New ${door.Noun}` }).click();
    const anew = page.getByRole('region', { name: `New ${door.Noun}` });
    await expect(editor(anew)).toBeFocused();
    expect(new URL(page.url()).search).toBe('');
    await write(page, editor(anew), door.text('one', '"n": 1'));
    await saveItem(page, anew, 'created');
    await expect(page).toHaveURL(/\?item=/);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const address = page.url();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(page).toHaveURL(/items$/);
    await page.goto(address);
    await expect(page.getByText(`This ${door.noun} no longer exists`)).toBeVisible();
    await page.goto(`/${door.name}/app/log/items?item=%7B%5B`);
    await expect(page.getByText(`There are no ${door.noun}s.`)).toBeVisible();
  });
}

test('what is saved after its pane was closed stays closed', async ({ page, server }) => {
  await nosql.create(server, null);
  for (const id of ['one', 'two']) await nosql.put(server, id, { n: 1 });
  await page.goto('/nosql/app/log/items');
  let release = () => {};
  await page.route('**/docs/one', async (route) => {
    if (route.request().method() === 'PUT') await new Promise<void>((done) => (release = done));
    await route.fallback();
  });
  const saveOne = async (n: number) => {
    const pane = await openItem(page, nosql, 'one');
    await write(page, editor(pane), nosql.text('one', `"n": ${n}`));
    const sent = page.waitForRequest((request) => request.method() === 'PUT');
    await page.keyboard.press('Control+S');
    await sent;
    return pane;
  };
  const answered = () => page.waitForResponse((response) => response.request().method() === 'PUT');

  const pane = await saveOne(2);
  await pane.getByRole('button', { name: 'Close' }).click();
  let done = answered();
  release();
  await done;
  await noted(page, 'Successfully updated item one');
  await expect(pane).toHaveCount(0);
  expect(new URL(page.url()).search).toBe('');

  await saveOne(3);
  const other = await openItem(page, nosql, 'two');
  const address = page.url();
  done = answered();
  release();
  await done;
  await expect.poll(() => nosql.get(server, 'one')).toEqual({ n: 3 });
  await expect(other).toBeVisible();
  expect(page.url()).toBe(address);

  await saveOne(4);
  await page.getByRole('link', { name: 'Metrics' }).click();
  await expect(page.getByRole('heading', { name: 'Metrics' })).toBeVisible();
  done = answered();
  release();
  await done;
  await expect.poll(() => nosql.get(server, 'one')).toEqual({ n: 4 });
  await expect(page).toHaveURL(/monitor$/);
});
