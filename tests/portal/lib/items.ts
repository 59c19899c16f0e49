// User actions on the items page: rows of the grid, the item pane, its editor.
import { expect, type Locator, type Page } from '@playwright/test';
import type { Door } from './door';
import { noted } from './pane';

/** Returns the rows with these ids. */
export function row(page: Page, door: Door, id: string): Locator {
  const cell = page.getByRole('gridcell', { name: door.label(id), exact: true });
  return page.getByRole('grid').getByRole('row').filter({ has: cell });
}

export function rows(page: Page): Locator {
  return page
    .getByRole('grid')
    .getByRole('row')
    .filter({ has: page.getByRole('gridcell') });
}

/** Returns the expiry cell of a row. */
export function expires(page: Page, door: Door, id: string): Locator {
  return row(page, door, id).locator('[role=gridcell][data-column="\\\\expires"]');
}

/** Opens an item by its row; returns the item pane. */
export async function openItem(page: Page, door: Door, id: string): Promise<Locator> {
  await row(page, door, id).click();
  const pane = page.getByRole('region', { name: `${door.Noun} ${door.label(id)}`, exact: true });
  await expect(editor(pane)).toBeVisible();
  return pane;
}

/** Opens an item of either API by any text of its row, which a cell may shorten. */
export async function open(page: Page, text: string): Promise<void> {
  const shortened = rows(page).filter({ has: page.getByTitle(text, { exact: true }) });
  await rows(page).filter({ hasText: text }).or(shortened).first().click();
  await expect(editor(page)).toBeVisible();
}

/** Returns the editor of the open item. */
export function editor(within: Page | Locator): Locator {
  return within.getByRole('textbox', { name: /^(Item|Document)$/ });
}

/** Inserts properties in front of the open item's others. */
export async function edit(page: Page, properties: string): Promise<void> {
  const text = editor(page);
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText(`\n  ${properties},`);
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
}

/** Replaces the text of an editor. */
export async function write(page: Page, box: Locator, text: string): Promise<void> {
  await box.focus();
  await page.keyboard.press('Control+A');
  if (text === '') await page.keyboard.press('Delete');
  else await page.keyboard.insertText(text);
}

/** Saves, and waits for a console message such as "updated item one". */
export async function saveItem(page: Page, pane: Locator, what: string): Promise<void> {
  await pane.getByRole('button', { name: 'Save', exact: true }).click();
  await noted(page, `Successfully ${what}`);
}

/** Waits until a visible list of completions accepts keys: it ignores those of its first 75 ms. */
export function listening(page: Page): Promise<void> {
  return page.evaluate(() => new Promise<void>((done) => setTimeout(done, 80)));
}
