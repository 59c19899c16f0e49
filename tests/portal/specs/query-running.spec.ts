// Executing a selection, and cancelling a long query, which also ends on the server.
import type { Page } from '@playwright/test';
import { fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { write } from '../lib/items';
import type { Server } from '../lib/server';

const box = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const summary = (page: Page) => page.locator('.query-bar').getByRole('status');

/** Selects the last line of an editor. */
async function selectLast(page: Page) {
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Shift+Home');
}

test('NoSQL: what is selected runs alone', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 10);
  await page.goto('/nosql/app/log/query');
  const query = box(page, 'Query');
  await write(page, query, 'SELECT * FROM c\nSELECT VALUE c.n FROM c WHERE c.n < 3');
  await expect(button(page, 'Execute selection')).toHaveCount(0);
  await selectLast(page);
  await expect(button(page, 'Execute selection')).toBeVisible();
  await page.keyboard.press('Control+Shift+Enter');
  await expect(summary(page)).toContainText('3 results,');
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toHaveText('');

  // An error is underlined at its position in the whole text.
  await write(page, query, 'SELECT VALUE 1\nSELECT NOPE(c.n) FROM c');
  await selectLast(page);
  await button(page, 'Execute selection').click();
  await expect(page.locator('.cm-lintRange-error')).toHaveText(/NOPE/);
});

test('MongoDB: stages that are selected are a pipeline', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 10);
  await page.goto('/mongo/app/log/query');
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  await write(page, box(page, 'Pipeline'), '[\n  { $match: { n: 99 } },\n  { $limit: 4 },');
  await selectLast(page);
  await page.keyboard.press('Control+Shift+Enter');
  await expect(summary(page)).toContainText('4 results,');
});

interface Operation {
  command?: { comment?: unknown };
}

/** Returns the number of the portal's operations on the server. */
async function running(server: Server): Promise<number> {
  const reply = await (await server.mongo()).db('admin').command({ currentOp: 1 });
  const all = reply.inprog as Operation[];
  return all.filter(({ command }) => /^ebb-portal /.test(String(command?.comment))).length;
}

test('a query that takes long is counted, and ends at the server when it is cancelled', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', {});
  await page.goto('/mongo/app/log/query');
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  const digits = '{ $range: [0, 30000] }';
  const slow = `[{ $project: { a: ${digits}, b: ${digits} } }, { $unwind: "$a" }, { $unwind: "$b" },
    { $group: { _id: { $mod: [{ $multiply: ["$a", "$b"] }, 7] }, all: { $sum: 1 } } }]`;
  await write(page, box(page, 'Pipeline'), slow);
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.query-bar').getByText(/^\d+\.\d s$/)).toBeVisible();
  await expect.poll(() => running(server)).toBe(1);
  await button(page, 'Cancel').click();
  await expect(summary(page)).toHaveText('Cancelled.');
  await expect.poll(() => running(server)).toBe(0);
  await write(page, box(page, 'Pipeline'), '[{ $match: { _id: "one" } }]');
  await page.keyboard.press('Control+Enter');
  await expect(summary(page)).toContainText('1 result,');
});
