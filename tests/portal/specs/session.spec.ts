// An expired or refused session: no input is lost, and the requested page is shown.
import { expect, test } from '../lib/fixtures';
import { edit, editor, open } from '../lib/items';
import { KEYED, PRIMARY, signIn } from '../lib/login';
import { noted } from '../lib/pane';

test.use({ options: KEYED });

test.beforeEach(async ({ server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: 'one' });
});

test('a session that ends while something is typed', async ({ page, context, server }) => {
  await page.goto('/nosql/app/log/items');
  await signIn(page, PRIMARY);
  await open(page, 'one');
  await edit(page, '"kept": 1');
  await context.clearCookies();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  // A background request may have been refused before, and the dialog covers the button then.
  const save = page.locator('.items-commands').getByRole('button', { name: 'Save' });
  await save.dispatchEvent('click');
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeVisible();
  await signIn(page, 'wrong');
  await expect(dialog.getByRole('alert')).toBeVisible();
  await signIn(page, PRIMARY);
  await expect(dialog).toHaveCount(0);
  await expect(editor(page)).toContainText('"kept": 1');
  await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
  await noted(page, 'Successfully updated item one');
  const read = await server.cosmos.database('app').container('log').item('one', 'one').read();
  expect(read.resource).toMatchObject({ kept: 1 });
});

test('the section that was asked for comes after signing in', async ({ page }) => {
  await page.goto('/nosql/app/log/settings?section=indexing');
  await signIn(page, PRIMARY);
  await expect(page.getByRole('tab', { name: /^Indexing policy/ })).toHaveAttribute(
    'aria-selected',
    'true',
  );
  await expect(page.getByRole('textbox', { name: /^Indexing policy/ })).toContainText(
    'includedPaths',
  );
  expect(new URL(page.url()).search).toBe('?section=indexing');
});

test('too many wrong keys', async ({ page, server }) => {
  await page.goto('/features');
  const refusal = page.getByText('Invalid account key.');
  for (let tries = 0; tries < 10; tries += 1) {
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await signIn(page, `wrong ${tries}`);
    expect((await answered).status()).toBe(401);
    await expect(refusal).toBeVisible();
  }
  await signIn(page, 'wrong again');
  await expect(page.getByText(/Too many wrong keys. Wait a minute/)).toBeVisible();
  await expect(page.getByLabel('Account key', { exact: true })).toHaveValue('wrong again');
  // The correct key still works.
  await signIn(page, PRIMARY);
  await expect(page.getByLabel('Account key', { exact: true })).toHaveCount(0);
  const read = await server.cosmos.database('app').container('log').read();
  expect(read.statusCode).toBe(200);
});
