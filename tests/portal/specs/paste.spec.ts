// Pasting 20 MB into a field: refused with its size, without changing or blocking the page.
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../lib/fixtures';
import { edit, editor, open, write } from '../lib/items';

const CHARACTERS = 20 * 1024 * 1024;
/** Text of the whole page, which takes browsers long to lay out if there are megabytes of it. */
const MOST_TEXT = 100_000;

test.use({ permissions: ['clipboard-read', 'clipboard-write'] });

test.beforeEach(async ({ page, server }) => {
  const { database } = await server.cosmos.databases.create({ id: 'app' });
  const { container } = await database.containers.create({
    id: 'log',
    partitionKey: { paths: ['/id'] },
  });
  await container.items.create({ id: 'one', kept: 'here' });
  await (await server.mongo())
    .db('app')
    .collection<{ _id: string }>('log')
    .insertOne({ _id: 'one' });
  await page.goto('/');
  await page.evaluate((n) => navigator.clipboard.writeText('x'.repeat(n)), CHARACTERS);
});

/** Returns the number of inputs since the previous call. */
async function inputs(page: Page): Promise<number> {
  return page.evaluate(() => {
    const counted = window as Window & { inputs?: number };
    const before = counted.inputs;
    const count = () => {
      counted.inputs = (counted.inputs ?? 0) + 1;
    };
    if (before === undefined) document.addEventListener('input', count, true);
    counted.inputs = 0;
    return before ?? 0;
  });
}

/** Pastes: the text is refused before the browser inserts it, and the page stays usable. */
async function paste(page: Page, into: Locator, next: () => Promise<void>) {
  await into.focus();
  await inputs(page);
  await page.keyboard.press('Control+V');
  await expect(page.getByText(/The pasted text is 20 MB/).first()).toBeVisible();
  expect(await inputs(page)).toBe(0);
  expect(await textOf(page)).toBeLessThan(MOST_TEXT);
  await next();
}

/** Returns the number of characters that the page holds, in texts and in fields. */
function textOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    let characters = 0;
    const add = (within: Document | ShadowRoot) => {
      for (const element of within.querySelectorAll('*')) {
        if (element.shadowRoot !== null) add(element.shadowRoot);
        if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement)
          characters += element.value.length;
        for (const node of element.childNodes)
          if (node.nodeType === Node.TEXT_NODE) characters += node.nodeValue?.length ?? 0;
      }
    };
    add(document);
    return characters;
  });
}

/** Opens and closes the console. */
async function click(page: Page) {
  const button = page.getByRole('button', { name: /^\W*Console/ });
  const was = (await button.getAttribute('aria-expanded')) === 'true';
  await button.click();
  await expect(button).toHaveAttribute('aria-expanded', String(!was));
}

test('into an item', async ({ page, server }) => {
  for (const door of ['nosql', 'mongo'] as const) {
    await page.goto(`/${door}/app/log/items`);
    await open(page, 'one');
    const line = door === 'nosql' ? '"mine": 1' : 'mine: 1';
    await edit(page, line);
    await paste(page, editor(page), () => click(page));
    await expect(editor(page)).toContainText('one');
    await expect(editor(page)).toContainText(line);
    await page.locator('.items-commands').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('unsaved', { exact: true })).toHaveCount(0);
  }
  const read = await server.cosmos.database('app').container('log').item('one', 'one').read();
  expect(read.resource).toMatchObject({ kept: 'here', mine: 1 });
});

test('into a query', async ({ page }) => {
  for (const [door, label, before] of [
    ['nosql', 'Query', 'SELECT * FROM c'],
    ['mongo', 'Filter', '{}'],
  ] as const) {
    await page.goto(`/${door}/app/log/query`);
    const field = page.getByRole('textbox', { name: label, exact: true });
    await expect(field).toContainText(before);
    await paste(page, field, () => click(page));
    await expect(field).toHaveText(before);
    await page.getByRole('button', { name: 'Execute query' }).click();
    await expect(page.locator('.query-summary')).toContainText('1');
  }
});

test('into the filter', async ({ page }) => {
  for (const [door, filter] of [
    ['nosql', "WHERE c.id = 'one'"],
    ['mongo', "{ _id: 'one' }"],
  ] as const) {
    await page.goto(`/${door}/app/log/items`);
    const field = page.getByRole('textbox', { name: 'Filter', exact: true });
    await write(page, field, filter);
    await paste(page, field, () => click(page));
    await expect(field).toHaveText(filter);
    await page.getByRole('button', { name: 'Apply filter' }).click();
    await expect(page.getByRole('grid').getByText('one').first()).toBeVisible();
    await expect(page.getByText(/The pasted text is/)).toHaveCount(0);
  }
});

test('into the indexing policy', async ({ page, server }) => {
  await page.goto('/nosql/app/log/settings?section=indexing');
  const field = page.getByRole('textbox', { name: /^Indexing policy/ });
  await expect(field).toContainText('includedPaths');
  const before = await field.innerText();
  await paste(page, field, () => click(page));
  expect(await field.innerText()).toBe(before);
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  expect((await server.cosmos.database('app').container('log').read()).statusCode).toBe(200);
});

test('into fields of one line', async ({ page }) => {
  const places: [string, string, string][] = [
    ['/nosql/app/log/settings', 'Time to live', '60'],
    ['/nosql/app', 'Filter databases and containers', 'lo'],
    ['/monitor', 'Forward by', '5'],
    ['/mongo/app/log/query', 'Limit', '1'],
  ];
  for (const [path, label, before] of places) {
    await page.goto(path);
    const isTtl = label === 'Time to live';
    if (isTtl) await page.getByRole('radio', { name: 'On', exact: true }).check();
    const field = isTtl ? page.locator('#timeToLiveSeconds') : page.getByLabel(label).first();
    await field.fill(before);
    await paste(page, field, () => click(page));
    await expect(field).toHaveValue(before);
  }
});
