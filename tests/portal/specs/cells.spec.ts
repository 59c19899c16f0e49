// Editing cells of the grid: keyboard as in a spreadsheet, visible errors, undo.
import type { Page } from '@playwright/test';
import { Binary, Code } from 'mongodb';
import { DOORS, type Door, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { editor, row } from '../lib/items';
import { typeOver } from '../lib/keyboard';

const grid = (page: Page) => page.getByRole('grid');
const cell = (page: Page, door: Door, column: string, id = 'one') =>
  row(page, door, id).locator(`[data-column="${column}"]`);
const field = (page: Page, column: string) =>
  grid(page).getByRole('textbox', { name: new RegExp(`^${column} of`) });
const toasts = (page: Page) => page.getByRole('region', { name: 'Notifications' });
const undo = (page: Page) => toasts(page).getByRole('button', { name: /^Undo/ });

/** Presses keys one after another. */
async function press(page: Page, ...keys: string[]) {
  for (const key of keys) await page.keyboard.press(key);
}

for (const door of DOORS) {
  const list = `/${door.name}/app/log/items`;

  test(`${door.noun}s: what is wrong with a cell is read above everything`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    for (const id of ['one', 'two']) await door.put(server, id, { balance: 1 });
    await page.goto(list);
    await cell(page, door, 'balance').dblclick();
    await typeOver(page, 'abc');
    await page.keyboard.press('Enter');
    const alert = grid(page).getByRole('alert');
    await expect(alert).toHaveText(/^Enter a number/);
    await expect(field(page, 'balance')).toHaveAccessibleDescription(/^Enter a number/);
    // It is neither covered nor clipped at any corner.
    const isRead = () =>
      alert.evaluate((one) => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        const corners = [left + 8, right - 8].flatMap((x) =>
          [top + 8, bottom - 8].map((y) => document.elementFromPoint(x, y)),
        );
        return corners.every((found) => found === one);
      });
    expect(await isRead()).toBe(true);
    await innocent(page, 'a cell with an error');
    // A click on it does not end editing.
    await alert.click();
    await expect(field(page, 'balance')).toBeFocused();
    await page.setViewportSize({ width: 390, height: 700 });
    await cell(page, door, 'balance').scrollIntoViewIfNeeded();
    await expect.poll(isRead).toBe(true);
    await typeOver(page, '2');
    await expect(alert).toHaveCount(0);
    await page.keyboard.press('Escape');
    await expect(grid(page)).toBeFocused();
    expect(await door.get(server, 'one')).toEqual({ balance: 1 });
  });

  test(`${door.noun}s: a row is filled with the keyboard alone`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { a: 1, b: { c: 2 }, d: [1], e: 'x' });
    await page.goto(list);
    await expect(row(page, door, 'one')).toBeVisible();
    await grid(page).focus();
    // The id column, then the first editable one.
    await press(page, 'ArrowDown', 'ArrowRight', 'ArrowRight');
    const active = page.locator('.items-cell-active');
    await expect(active).toHaveAttribute('data-column', 'a');
    const activeId = await active.getAttribute('id');
    await expect(grid(page)).toHaveAttribute('aria-activedescendant', activeId ?? '');
    await page.keyboard.press('F2');
    await expect(field(page, 'a')).toBeFocused();
    await page.keyboard.type('10');
    await page.keyboard.press('Tab');
    // Keys typed immediately go to the next cell.
    await page.keyboard.type('20');
    await page.keyboard.press('Tab');
    await page.keyboard.type('y');
    await expect(field(page, 'e')).toHaveValue('y');
    await page.keyboard.press('Shift+Tab');
    await expect(field(page, 'b\\.c')).toBeFocused();
    await expect
      .poll(() => door.get(server, 'one'))
      .toEqual({ a: 10, b: { c: 20 }, d: [1], e: 'y' });
    // Invalid input keeps the cell open.
    await typeOver(page, 'many');
    await page.keyboard.press('Tab');
    await expect(grid(page).getByRole('alert')).toBeVisible();
    await expect(field(page, 'b\\.c')).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(grid(page)).toBeFocused();
    await expect(active).toHaveAttribute('data-column', 'b.c');
    // After the last cell, Tab only saves.
    await page.keyboard.press('Enter');
    await press(page, 'Tab', 'Tab');
    await expect(grid(page)).toBeFocused();
    await expect(active).toHaveAttribute('data-column', 'e');
    await page.keyboard.press('Enter');
    await typeOver(page, 'z');
    await page.keyboard.press('Enter');
    await expect(cell(page, door, 'e')).toHaveText('z');
    expect(await door.get(server, 'one')).toEqual({ a: 10, b: { c: 20 }, d: [1], e: 'z' });
    // On the id, Enter opens the row.
    await press(page, 'Home', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft');
    await press(page, 'ArrowRight', 'Enter');
    await expect(
      page.getByRole('region', { name: `${door.Noun} ${door.label('one')}` }),
    ).toBeVisible();
  });

  test(`${door.noun}s: a cell that is left by mouse is saved, or given up with a note`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(list);
    const aside = page.getByRole('search').getByRole('textbox');
    await cell(page, door, 'n').dblclick();
    await typeOver(page, '5');
    await aside.click();
    await expect(cell(page, door, 'n')).toHaveText('5');
    await expect(aside).toBeFocused();
    expect(await door.get(server, 'one')).toEqual({ n: 5 });
    await cell(page, door, 'n').dblclick();
    await typeOver(page, 'five');
    await aside.click();
    await expect(toasts(page)).toContainText(/^.*n of .*one.* was not changed: .*Your input: five/);
    await expect(field(page, 'n')).toHaveCount(0);
    // A concurrent change, after the cell was left.
    await cell(page, door, 'n').dblclick();
    await typeOver(page, '6');
    await door.put(server, 'one', { n: 7 });
    await aside.click();
    await expect(toasts(page)).toContainText(/Someone else changed it.*Your input: 6/);
    await expect(cell(page, door, 'n')).toHaveText('7');
    expect(await door.get(server, 'one')).toEqual({ n: 7 });
  });

  test(`${door.noun}s: a change of a cell is undone, unless someone else has changed it`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1, user: 'ada' });
    await page.goto(list);
    const change = async (text: string) => {
      await cell(page, door, 'n').dblclick();
      await typeOver(page, text);
      await page.keyboard.press('Enter');
      await expect(cell(page, door, 'n')).toHaveText(text);
    };
    await change('2');
    // Changes of other fields do not prevent undo.
    await door.put(server, 'one', { n: 2, user: 'grace' });
    await undo(page).click();
    await expect(cell(page, door, 'n')).toHaveText('1');
    await expect(grid(page)).toBeFocused();
    expect(await door.get(server, 'one')).toEqual({ n: 1, user: 'grace' });
    await change('3');
    await door.put(server, 'one', { n: 8, user: 'grace' });
    await undo(page).click();
    await expect(toasts(page)).toContainText('Not restored: n of');
    await expect(cell(page, door, 'n')).toHaveText('8');
    expect(await door.get(server, 'one')).toEqual({ n: 8, user: 'grace' });
  });
}

for (const [door, kinds] of [
  [nosql, ['list', 'deep', 'none', 'id', '\\\\expires']],
  [mongo, ['list', 'deep', 'none', '_id', '\\\\expires', 'bytes', 'code', 'pattern']],
] as const) {
  test(`${door.noun}s: a double click on what is no line of text leads into the editor`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    const special = { bytes: new Binary(Buffer.from('x')), code: new Code('x'), pattern: /x/ };
    const fields = { deep: { a: { b: { c: 1 } } }, list: [1], n: 1 };
    await door.put(server, 'one', door === mongo ? { ...fields, ...special } : fields);
    await door.put(server, 'two', { none: 1 });
    const chosen = [...kinds, 'n'].map((id) => ({
      ...{ id: id.replace('\\\\', '\\'), shown: true, pinned: false, width: null },
    }));
    await page.addInitScript(
      ([name, text]) => localStorage.setItem(name as string, text as string),
      [
        `ebb:columns:${JSON.stringify([door.name, 'app', 'log'])}`,
        JSON.stringify(JSON.stringify({ version: 1, columns: chosen })),
      ],
    );
    for (const column of kinds) {
      await page.goto(`/${door.name}/app/log/items`);
      await cell(page, door, column).dblclick();
      const pane = page.getByRole('region', { name: `${door.Noun} ${door.label('one')}` });
      await expect(editor(pane), column).toBeFocused();
      await expect(grid(page).getByRole('textbox')).toHaveCount(0);
    }
    // A scalar is edited in place.
    await page.goto(`/${door.name}/app/log/items`);
    await cell(page, door, 'n').dblclick();
    await expect(field(page, 'n')).toBeFocused();
  });
}

test.describe('far from Greenwich', () => {
  test.use({ timezoneId: 'America/New_York' });

  test('a date is typed as it is shown, in UTC', async ({ page, server }) => {
    await mongo.create(server, null);
    const at = new Date('2026-05-04T00:05:18Z');
    await mongo.put(server, 'one', { at });
    await page.goto('/mongo/app/log/items');
    await expect(cell(page, mongo, 'at')).toHaveText('2026-05-04 00:05:18');
    await cell(page, mongo, 'at').dblclick();
    await typeOver(page, '2026-05-04 02:00');
    await page.keyboard.press('Enter');
    await expect(cell(page, mongo, 'at')).toHaveText('2026-05-04 02:00:00');
    expect(await mongo.get(server, 'one')).toEqual({ at: new Date('2026-05-04T02:00:00Z') });
  });
});
