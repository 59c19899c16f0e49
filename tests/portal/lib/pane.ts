// User actions in the tree and in settings, by roles and names.
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

/** Opens the dialog for a new database by the menu above the tree. */
export async function newDatabase(page: Page) {
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('menuitem', { name: 'New database' }).click();
}

/** Selects a TTL option, and enters seconds if given. */
export async function chooseTtl(page: Page, option: string, seconds?: string) {
  await page.getByRole('radio', { name: option, exact: true }).check();
  if (seconds !== undefined) {
    const field = page.locator('#timeToLiveSeconds');
    await field.fill(seconds);
  }
}

/** Returns the preview of what saving would expire. */
export function impact(page: Page): Locator {
  return page.locator('[data-test="ttl-impact"]');
}

/** Waits for a message in the console. */
export async function noted(page: Page, note: string | RegExp) {
  await expect(page.getByRole('region', { name: 'Console' }).getByText(note).first()).toBeVisible();
}

/** Saves a change that expires nothing; waits for the message and for the disabled button. */
export async function save(page: Page, note: string) {
  const button = page.getByRole('button', { name: 'Save', exact: true });
  await button.click();
  await expect(button).not.toHaveAttribute('aria-busy');
  await expect(button).toBeDisabled();
  await noted(page, note);
}
