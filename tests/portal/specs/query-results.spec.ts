// Query results as table, JSON or tree: the choice is kept, a row opens its item, and all results
// read can be copied and downloaded.
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { Decimal128 } from 'mongodb';
import { DOORS, type Door, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { write } from '../lib/items';
import { fontsReady } from '../lib/layout';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const summary = (page: Page) => page.locator('.query-bar').getByRole('status');
const table = (page: Page) => page.getByRole('region', { name: 'Results as a table' });

async function open(page: Page, door: Door) {
  await page.goto(`/${door.name}/app/log/query`);
  await expect(summary(page)).toContainText('Press Ctrl+Enter');
}

/** All fields, by their index from above. */
async function run(page: Page, door: Door, filter: string) {
  const [field, text] =
    door === nosql ? ['Query', `SELECT * FROM c ${filter}`] : ['Filter', filter];
  await write(page, page.getByRole('textbox', { name: field, exact: true }), text);
  await page.keyboard.press('Control+Enter');
}

/** Returns the file that is downloaded for a format. */
async function download(
  page: Page,
  form: string,
  what = '150 results',
): Promise<{ name: string; text: string }> {
  await button(page, 'Download').click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: `${what} as ${form}`, exact: true }).click();
  const file = await saved;
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
}

for (const door of DOORS) {
  test(`${door.noun}s as a table, as JSON and as a tree`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', {
      n: 1,
      at: { city: 'Ulm', tags: ['a', 'b'] },
      text: 'x'.repeat(500),
    });
    await door.put(server, 'two', { n: 2, at: { city: 'Bonn' }, only: null });
    await open(page, door);
    await run(page, door, door === nosql ? 'WHERE c.n > 0' : '{ n: { $gt: 0 } }');
    await expect(summary(page)).toContainText('2 results');
    const head = table(page).getByRole('columnheader');
    const names = [door === nosql ? 'id' : '_id', 'n', 'at.city'];
    for (const name of names) await expect(head.filter({ hasText: name }).first()).toBeVisible();
    const row = table(page).getByRole('row').filter({ hasText: 'Ulm' });
    // Numbers are right-aligned, and the row number column is narrow.
    await expect(head.filter({ hasText: /^n$/ })).toHaveCSS('text-align', 'right');
    await expect(row.getByRole('cell', { name: '1', exact: true })).toHaveCSS(
      'text-align',
      'right',
    );
    await fontsReady(page);
    const numbered = await table(page).getByRole('rowheader').first().boundingBox();
    expect(numbered?.width).toBeLessThan(60);
    await expect(row.getByRole('cell', { name: '1', exact: true })).toBeVisible();
    await expect(row.getByRole('cell', { name: /^x{120}…$/ })).toBeVisible();

    await button(page, 'Tree').click();
    const tree = page.getByRole('list', { name: 'Results as a tree' });
    await expect(tree.getByRole('button', { name: /^1 / })).toHaveAttribute(
      'aria-expanded',
      'true',
    );
    await tree.getByRole('button', { name: /^at / }).click();
    await expect(tree.getByText('"Ulm"')).toBeVisible();
    await tree.getByRole('button', { name: 'tags 2 elements' }).click();
    await expect(tree.getByText('"b"')).toBeVisible();
    await tree.getByRole('button', { name: /^1 / }).click();
    await expect(tree.getByText('"Ulm"')).toHaveCount(0);

    await page.reload();
    await button(page, 'Execute query').click();
    await expect(tree).toBeVisible();
    await button(page, 'JSON').click();
    await expect(page.getByRole('textbox', { name: 'Results' })).toContainText('"Ulm"');
  });

  test(`a row opens its ${door.noun}`, async ({ page, server }) => {
    await door.create(server, null);
    await fillWith(server, door, 5);
    await open(page, door);
    await run(page, door, door === nosql ? 'WHERE c.n = 3' : '{ n: 3 }');
    await table(page).getByRole('cell', { name: 'bob', exact: true }).click();
    const pane = page.getByRole('region', {
      name: `${door.Noun} ${door.label('n003')}`,
      exact: true,
    });
    await expect(pane).toBeVisible();
    await expect(page).toHaveURL(/items\?item=/);

    // Results are restored on return.
    await page.goBack();
    await expect(summary(page)).toContainText('1 result,');
    const link = table(page).getByRole('link', { name: `Open ${door.noun} of row 1` });
    await link.focus();
    await page.keyboard.press('Enter');
    await expect(pane).toBeVisible();
  });

  test(`${door.noun}s are copied and downloaded`, async ({ page, server, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await door.create(server, null);
    await fillWith(server, door, 150);
    await open(page, door);
    await run(page, door, door === nosql ? 'WHERE c.n >= 0' : '{ n: { $gte: 0 } }');
    await expect(summary(page)).toContainText('Page 1: 1 to 100');
    // All results, although one page was read.
    const whole = await download(page, 'JSON', 'All results');
    expect(JSON.parse(whole.text)).toHaveLength(150);
    await expect(page.getByText('Downloaded 150 results as app.log.json.').first()).toBeVisible();
    const part = await download(page, 'JSON', 'Only 100 results');
    expect(JSON.parse(part.text)).toHaveLength(100);
    await button(page, 'Next').click();
    await expect(summary(page)).toContainText('Page 2 of 2 read: 101 to 150');

    await button(page, 'Copy the results of this page').click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('n149');
    expect(copied).not.toContain('n099');

    const lines = await download(page, 'JSON Lines');
    expect(lines.name).toBe('app.log.jsonl');
    const read = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { n: number });
    expect(read.map(({ n }) => n).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 150 }, (_, at) => at),
    );
    const json = await download(page, 'JSON');
    expect(json.name).toBe('app.log.json');
    expect(JSON.parse(json.text)).toHaveLength(150);
    const csv = await download(page, 'CSV');
    const rows = csv.text.trimEnd().split('\r\n');
    expect(rows[0]).toBe(`${door === nosql ? 'id' : '_id'},n,user`);
    expect(rows).toHaveLength(151);
  });
}

for (const door of DOORS) {
  test(`${door.noun}s stay when the next execution fails`, async ({ page, server }) => {
    await door.create(server, null);
    await fillWith(server, door, 150);
    await open(page, door);
    await run(page, door, door === nosql ? 'ORDER BY c.n' : '{ n: { $gte: 0 } }');
    await expect(summary(page)).toContainText('Page 1: 1 to 100');
    await button(page, 'Next').click();
    await expect(summary(page)).toContainText('Page 2 of 2 read: 101 to 150');
    const mistakes: [text: string, said: RegExp][] =
      door === nosql
        ? [
            ['WHERE', /syntax/i],
            ['WHERE NOPE(c.n)', /NOPE/],
          ]
        : [
            ['{ n: ', /Filter, line 1/],
            ['{ $nope: 1 }', /\$nope/],
          ];
    for (const [text, said] of mistakes) {
      await run(page, door, text);
      await expect(page.getByRole('alert').filter({ hasText: said })).toBeVisible();
      await expect(summary(page)).toHaveText('');
    }
    const before = page.getByText(/^Results of the previous execution: Page 2 of 2 read/);
    await expect(before).toBeVisible();
    await expect(table(page).getByRole('cell', { name: '149', exact: true })).toBeVisible();
    await expect(button(page, 'Next')).toBeDisabled();
    await innocent(page, 'results of the execution before');
    await button(page, 'Previous').click();
    await expect(table(page).getByRole('cell', { name: '99', exact: true })).toBeVisible();
    expect((await download(page, 'JSON Lines')).text.trimEnd().split('\n')).toHaveLength(150);

    // They are restored on return as well.
    await page.getByRole('tab', { name: 'Items' }).click();
    await page.goBack();
    await expect(summary(page)).toContainText('Page 1 of 2 read');
    await run(page, door, door === nosql ? 'WHERE c.n = 3' : '{ n: 3 }');
    await expect(summary(page)).toContainText('1 result,');
    await expect(page.getByText('Results of the previous execution')).toHaveCount(0);
  });
}

test('a tree tells types beside values', async ({ page, server }) => {
  await mongo.create(server, null);
  const n = Decimal128.fromString('471.450');
  await mongo.put(server, 'one', { n, at: new Date('2026-01-31T12:00:00Z') });
  await open(page, mongo);
  await run(page, mongo, '{}');
  await button(page, 'Tree').click();
  const leaves = page.getByRole('list', { name: 'Results as a tree' }).locator('.result-leaf');
  await expect(leaves).toHaveText([
    '_id "one"',
    'n 471.450 decimal',
    'at 2026-01-31 12:00:00 date',
  ]);
});

test('results that are no items open nothing', async ({ page, server }) => {
  for (const door of DOORS) {
    await door.create(server, null);
    await fillWith(server, door, 3);
  }
  await open(page, nosql);
  await write(page, page.getByRole('textbox', { name: 'Query' }), 'SELECT VALUE c.n FROM c');
  await page.keyboard.press('Control+Enter');
  await expect(table(page).getByRole('columnheader', { name: 'value' })).toBeVisible();
  await expect(table(page).getByRole('link')).toHaveCount(0);

  await open(page, mongo);
  await page.getByRole('radio', { name: 'Pipeline' }).check();
  const pipeline = page.getByRole('textbox', { name: 'Pipeline' });
  await write(page, pipeline, '[{ $group: { _id: "$user", all: { $sum: 1 } } }]');
  await page.keyboard.press('Control+Enter');
  await expect(table(page).getByRole('row').filter({ hasText: 'ada' })).toBeVisible();
  await expect(table(page).getByRole('link')).toHaveCount(0);
});

test('a query that was not run, or returned nothing, says what to do', async ({ page, server }) => {
  await nosql.create(server, null);
  await nosql.put(server, 'one', {});
  await page.goto('/nosql/app/log/query?q=SELECT%20*%20FROM%20c%20WHERE%20c.nothing%20%3D%201');
  await expect(page.getByText('Execute a query to see its results')).toBeVisible();
  await page.getByRole('button', { name: 'Execute query' }).click();
  await expect(page.getByText('The query returned no results.')).toBeVisible();
  await page.getByRole('link', { name: 'the contents of log' }).click();
  await expect(page).toHaveURL(/\/nosql\/app\/log\/items$/);
});
