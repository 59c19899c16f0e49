// What a person does in the grid of items and in the editor beside it.
import { expect, type Locator, type Page } from '@playwright/test';

/** The editor of the item that is open. */
export function editor(page: Page): Locator {
  return page.getByRole('textbox', { name: /^(Item|Document)$/ }).last();
}

/** Opens the row of an item. */
export async function open(page: Page, id: string) {
  await page.getByRole('grid').getByRole('row').filter({ hasText: id }).first().click();
  await expect(editor(page)).toBeVisible();
}

/** Puts properties before the others of the item that is open. */
export async function edit(page: Page, properties: string) {
  const text = editor(page);
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.insertText(`\n  ${properties},`);
  await expect(page.getByText('unsaved', { exact: true })).toBeVisible();
}
