// The item pane: keys, small windows, and drafts.

import { DOORS, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { edit, editor, openItem, row, rows, write } from '../lib/items';
import { fontsReady } from '../lib/layout';
import { chooseTtl, noted } from '../lib/pane';
import { readsAgain } from '../lib/time';

for (const door of DOORS) {
  test(`${door.noun}: Ctrl+S saves, in the editor and beside it`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    await write(page, editor(pane), door.text('one', '"n": 2'));
    await page.keyboard.press('Control+S');
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 2 });
    await expect(pane.getByText('unsaved')).toHaveCount(0);
    await write(page, editor(pane), door.text('one', '"n": 3'));
    await pane.getByRole('button', { name: 'Discard' }).focus();
    await page.keyboard.press('Control+S');
    await expect.poll(() => door.get(server, 'one')).toEqual({ n: 3 });
  });
}

test('Escape closes what is open, not what is typed', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  await page.goto('/nosql/app/log/items');
  const pane = await openItem(page, nosql, 'one');
  await edit(page, '"kept": 1');
  await page.keyboard.press('Escape');
  await expect(pane).toBeVisible();
  await pane.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(pane).toBeVisible();
  await pane.getByRole('button', { name: 'Save', exact: true }).focus();
  await page.keyboard.press('Escape');
  await expect(pane).toHaveCount(0);
  await expect(page.getByRole('grid')).toBeFocused();
  await expect(editor(await openItem(page, nosql, 'one'))).toContainText('"kept": 1');
});

test('Enter on a row leads into its text, and Escape twice back to the list', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('"typed": 1, ');
  await expect(editor(page)).toContainText('"typed": 1');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Escape');
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(editor(page)).toHaveCount(0);
  await expect(page.getByRole('grid')).toBeFocused();
});

test('a click on what is open takes no place of what is typed', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', { color: 'red' });
  await page.goto('/nosql/app/log/items?item=["one","one"]');
  const pane = page.getByRole('region', { name: 'Item one', exact: true });
  await expect(editor(pane)).toContainText('red');
  // A click opens the row after the double-click delay, so it arrives in between.
  await page.getByRole('gridcell', { name: 'red', exact: true }).click();
  await editor(pane).focus();
  await page.keyboard.press('Control+A');
  const letters = 'kept whole while it is typed slowly enough for a click to come late';
  await page.keyboard.type(letters, { delay: 10 });
  await expect(editor(pane)).toHaveText(letters);
  await expect(editor(pane)).toBeFocused();
});

test('a row whose text was changed and not saved is marked', async ({ page, server }) => {
  await nosql.create(server, null);
  for (const id of ['one', 'two']) await nosql.put(server, id, {});
  await page.goto('/nosql/app/log/items');
  const marks = page.getByRole('grid').getByText('●');
  const pane = await openItem(page, nosql, 'one');
  await expect(marks).toHaveCount(0);
  await edit(page, '"kept": 1');
  await openItem(page, nosql, 'two');
  for (const turn of ['at once', 'after a reload']) {
    await expect(marks, turn).toHaveCount(1);
    await expect(row(page, nosql, 'one').getByText('●'), turn).toBeVisible();
    await expect(row(page, nosql, 'one')).toHaveAccessibleDescription(/kept as a draft/);
    await expect(row(page, nosql, 'two')).toHaveAccessibleDescription('');
    await page.reload();
  }
  await openItem(page, nosql, 'one');
  await pane.getByRole('button', { name: 'Discard' }).click();
  await expect(marks).toHaveCount(0);
});

test('an editor that takes Tab says how it is left', async ({ page, server }) => {
  await nosql.create(server, null);
  const way = page.getByText('Escape, then Tab leaves the editor.');
  for (const [view, name] of [
    ['query', 'Query'],
    ['settings?section=indexing', /^Indexing policy/],
  ] as const) {
    await page.goto(`/nosql/app/log/${view}`);
    const box = page.getByRole('textbox', { name });
    await expect(box).toHaveAttribute('aria-description', /Escape, then Tab/);
    await expect(way).toBeHidden();
    await box.focus();
    await expect(way).toBeVisible();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect(box).not.toBeFocused();
    await expect(way).toBeHidden();
  }
});

test('leaving asks nothing, and keeps what was typed', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  await page.goto('/nosql/app/log/settings');
  await chooseTtl(page, 'On (no default)');
  await page.getByRole('tab', { name: /^Items/ }).click();
  await noted(page, /kept as a draft/);
  await openItem(page, nosql, 'one');
  // Longer than session storage accepts.
  const long = 'x'.repeat(1_200_000);
  await edit(page, `"long": "${long}"`);
  await page.getByRole('tab', { name: /^(Scale & settings|Settings)/ }).click();
  await expect(page.getByRole('radio', { name: 'On (no default)' })).toBeChecked();
  await page.getByRole('tab', { name: /^Items/ }).click();
  await row(page, nosql, 'one').click();
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
});

for (const [what, size] of [
  ['200 % of a notebook', { width: 720, height: 450 }],
  ['a telephone', { width: 390, height: 844 }],
] as const) {
  test(`an item lies over the list on ${what}`, async ({ page, server }) => {
    await mongo.create(server, 7200);
    for (const id of ['one', 'two'])
      await mongo.put(server, id, { user: 'ada', n: 1, deep: { er: 2 } });
    await page.setViewportSize(size);
    await page.goto('/mongo/app/log/items');
    await expect(rows(page)).toHaveCount(2);
    await row(page, mongo, 'two').click();
    await expect(page.getByRole('heading', { name: '"two"' })).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeInViewport({
      ratio: 1,
    });
    await expect(rows(page).first()).toBeHidden();
    await page.getByRole('button', { name: 'Back' }).click();
    await expect(page.getByRole('grid')).toBeFocused();
    await expect(row(page, mongo, 'two')).toBeInViewport();
  });
}

test('a telephone shows when each expires', async ({ page, server }) => {
  await mongo.create(server, 7200);
  await mongo.put(server, 'one', { user: 'ada', n: 1, deep: { er: 2 } });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/mongo/app/log/items');
  const left = row(page, mongo, 'one').getByText('02:00:00');
  await expect(left).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('columnheader').nth(1)).toHaveText(/^Expires/);
});

test('what a container held is not shown when it is not there any more', async ({
  page,
  server,
}) => {
  await nosql.create(server, 7200);
  await nosql.put(server, 'one', {});
  await page.goto('/nosql/app/log/items');
  await expect(row(page, nosql, 'one')).toBeVisible();
  await server.cosmos.database('app').delete();
  await page.getByRole('main').getByRole('button', { name: 'Refresh', exact: true }).click();
  await expect(page.getByText(/no longer exists/)).toBeVisible();
  await expect(rows(page)).toHaveCount(0);
  await expect(page.getByRole('main').getByText(/Resource Not Found|aka\.ms/)).toHaveCount(0);
});

test('the front page counts the sample as soon as it is loaded', async ({ page }) => {
  await page.clock.install();
  await page.goto('/');
  const live = page
    .getByRole('main')
    .locator('dl > div')
    .filter({ hasText: /^Live documents/ })
    .locator('dd');
  await expect(live).toContainText('0');
  await readsAgain(page, () => page.getByRole('button', { name: 'Load sample data' }).click());
  await expect(live).not.toContainText(/^0/);
});

test('rows whose long ids differ at the end can be told apart', async ({ page, server }) => {
  await mongo.create(server, null);
  const ids = ['65f0c0ffee00000000000001', '65f0c0ffee00000000000002'];
  for (const id of ids) await mongo.put(server, id, { n: 1 });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/mongo/app/log/items');
  for (const id of ids) {
    const cell = page.getByRole('gridcell', { name: mongo.label(id), exact: true });
    const end = cell.getByText(id.slice(-6));
    await expect(end).toBeInViewport({ ratio: 1 });
    // The whole text is within the cell.
    await fontsReady(page);
    const [outer, inner] = [await cell.boundingBox(), await end.boundingBox()];
    expect((inner?.x ?? 0) + (inner?.width ?? 0)).toBeLessThanOrEqual(
      (outer?.x ?? 0) + (outer?.width ?? 0),
    );
  }
});

test('how the editor is left stands below its text, not on it', async ({ page, server }) => {
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field${at}`, at]));
  await mongo.put(server, 'one', fields);
  await page.goto('/mongo/app/log/items');
  const pane = await openItem(page, mongo, 'one');
  await editor(pane).focus();
  await page.keyboard.press('Control+End');
  await fontsReady(page);
  const way = await pane.getByText('Escape, then Tab leaves the editor.').boundingBox();
  const text = await pane.locator('.cm-scroller').boundingBox();
  const frame = await pane.locator('.items-text').boundingBox();
  expect(way?.y).toBeGreaterThanOrEqual((text?.y ?? 0) + (text?.height ?? 0) - 1);
  const bottom = (way?.y ?? 0) + (way?.height ?? 0);
  expect(bottom).toBeLessThanOrEqual((frame?.y ?? 0) + (frame?.height ?? 0) + 1);
});

test('what is wrong with a text is said once', async ({ page, server }) => {
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  const pane = await openItem(page, mongo, 'one');
  await write(page, editor(pane), '[1]');
  await expect(pane.locator('.items-error')).toContainText('A document must be an object.');
  await pane.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(pane.locator('.items-error')).toHaveCount(1);
  await expect(pane.getByRole('alert')).toHaveCount(0);
});
