// What a person does in the tree and in settings, by roles and names.
import { expect, type Locator, type Page } from '@playwright/test';

/** Opens a collection through the tree. */
export async function openFromTree(page: Page, door: string, database: string, collection: string) {
  const badge = door === 'nosql' ? 'NoSQL' : 'MongoDB';
  const tree = page.getByRole('tree');
  const branch = tree
    .getByRole('treeitem')
    .filter({ hasText: database })
    .filter({ hasText: badge });
  if ((await branch.first().getAttribute('aria-expanded')) !== 'true') await branch.first().click();
  await tree.getByRole('treeitem', { name: collection, exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/${door}/${database}/${collection}`));
}

/** Opens the dialog for a new database, by the menu above the tree. */
export async function newDatabase(page: Page) {
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('menuitem', { name: 'New database' }).click();
}

/** Chooses an option of Time to live, with seconds where it takes some. */
export async function chooseTtl(page: Page, option: string, seconds?: string) {
  await page.getByRole('radio', { name: option, exact: true }).check();
  if (seconds !== undefined) {
    const field = page.locator('#timeToLiveSeconds');
    await field.fill(seconds);
  }
}

/** What the pane says that Save would do. */
export function impact(page: Page): Locator {
  return page.locator('[data-test="ttl-impact"]');
}

/** Waits for a note in the console. */
export async function noted(page: Page, note: string | RegExp) {
  await expect(page.getByRole('region', { name: 'Console' }).getByText(note).first()).toBeVisible();
}

/** Saves what kills nothing, and waits until that is noted and nothing is left to save. */
export async function save(page: Page, note: string) {
  const button = page.getByRole('button', { name: 'Save', exact: true });
  await button.click();
  await expect(button).not.toHaveAttribute('aria-busy');
  await expect(button).toBeDisabled();
  await noted(page, note);
}
