// The filter in the language of each API, its error messages, and rows beyond the first page.
import type { Locator, Page } from '@playwright/test';
import { type Door, fillWith, mongo, nosql, numbered } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { row, rows, write } from '../lib/items';
import { fontsReady } from '../lib/layout';

const MANY = 250;

interface Filters {
  door: Door;
  right: string;
  /** Invalid filters, which leave the list and the URL unchanged. */
  wrong: [text: string, said: RegExp, isFoundHere: boolean][];
}

const FILTERS: Filters[] = [
  {
    door: nosql,
    right: 'WHERE c.user = "ada" AND c.n < 30 ORDER BY c.n DESC',
    wrong: [
      ['WHERE c.user ==', /syntax/i, false],
      ['WHERE NOPE(c.n)', /NOPE/, false],
    ],
  },
  {
    door: mongo,
    right: '{ user: "ada", n: { $lt: 30 } }',
    wrong: [
      ['{ user:', /character \d+/, true],
      ['{ n: { $nope: 1 } }', /\$nope/, false],
      ['[]', /A filter must be an object/, true],
    ],
  },
];

async function apply(page: Page, text: string) {
  const search = page.getByRole('search');
  await write(page, search.getByRole('textbox'), text);
  await page.keyboard.press('Enter');
  return search;
}

for (const { door, right, wrong } of FILTERS) {
  test(`${door.noun}s that fit a filter, and beyond the first page`, async ({ page, server }) => {
    await door.create(server, null);
    await fillWith(server, door, MANY);
    await page.goto(`/${door.name}/app/log/items`);
    await expect(page.getByText(`100 ${door.noun}s loaded, ${MANY} live`)).toBeVisible();

    let search = await apply(page, right);
    // Every tenth has user ada.
    await expect(rows(page)).toHaveCount(3);
    // The total of the collection is not shown beside a filter.
    await expect(page.getByText(`3 ${door.noun}s match`, { exact: true })).toBeVisible();
    await expect(page.getByText(`${MANY} live`)).toHaveCount(0);
    await expect(page).toHaveURL(/[?&]filter=/);
    const ids = await rows(page).evaluateAll((found) =>
      found.map((one) => one.querySelector('[role=gridcell]')?.textContent),
    );
    const wanted = [0, 10, 20].map((at) => door.label(numbered(at)));
    expect(door === nosql ? ids.reverse() : ids).toEqual(wanted);
    const address = page.url();
    for (const [text, said, isFoundHere] of wrong) {
      await apply(page, right);
      await expect(rows(page)).toHaveCount(3);
      search = await apply(page, text);
      await expect(search.getByRole('alert')).toHaveText(said);
      await expect(search.getByRole('textbox')).toHaveAttribute('aria-invalid', 'true');
      await expect(search.getByRole('textbox')).toHaveText(text);
      await expect(rows(page)).toHaveCount(3);
      await expect(page).toHaveURL(address);
      if (!isFoundHere)
        await expect(search.getByRole('alert')).toContainText('results of the previous filter');
      // Count, export and bulk changes refer to the listed rows.
      await page.getByRole('button', { name: 'Export' }).click();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toContainText('that match the filter');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await expect(search.getByRole('textbox')).toHaveText(text);
      await expect(rows(page)).toHaveCount(3);
    }
    await search.getByRole('button', { name: 'Clear' }).click();
    await expect(search.getByRole('alert')).toHaveCount(0);
    await expect(page.getByText(`100 ${door.noun}s loaded, ${MANY} live`)).toBeVisible();

    // More rows load while scrolling; invisible rows are not rendered.
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await expect(page.getByText(`${MANY} ${door.noun}s loaded, ${MANY} live`)).toBeVisible();
    await page.keyboard.press('End');
    const last = door === mongo ? row(page, door, numbered(MANY - 1)) : rows(page).last();
    await expect(last).toHaveAttribute('aria-rowindex', String(MANY + 1));
    await expect(last).toBeInViewport();
    expect(await rows(page).count()).toBeLessThan(80);
    const seen = await everyRow(page);
    expect(seen.sort()).toEqual(Array.from({ length: MANY }, (_, at) => door.label(numbered(at))));
  });
}

test('a filter of the NoSQL API is completed, and never a name of the container', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 30);
  await page.goto('/nosql/app/log/items');
  await expect(page.getByText('30 items loaded, 30 live')).toBeVisible();
  // Taken literally, it would be an alias and match all items.
  const search = await apply(page, numbered(7));
  await expect(rows(page)).toHaveCount(1);
  await expect(search.getByRole('textbox')).toHaveText(`WHERE c.id = "${numbered(7)}"`);
  await apply(page, 'c.n < 5');
  await expect(rows(page)).toHaveCount(5);
  await expect(search.getByRole('textbox')).toHaveText('WHERE c.n < 5');
  await apply(page, 'x WHERE c.n < 5');
  await expect(search.getByRole('alert')).toContainText(/syntax/i);
  await page.goto(`/nosql/app/log/items?filter=${numbered(8)}`);
  await expect(rows(page)).toHaveCount(1);
});

const COUNTED = [
  [nosql, 'WHERE c.user = "bob" ORDER BY c.n'],
  [mongo, '{ user: "bob" }'],
] as const;

for (const [door, filter] of COUNTED) {
  test(`all ${door.noun}s that fit a filter are counted when asked for`, async ({
    page,
    server,
  }) => {
    await door.create(server, null);
    await fillWith(server, door, MANY);
    await page.goto(`/${door.name}/app/log/items`);
    const count = page.getByRole('button', { name: 'Count', exact: true });
    await expect(page.getByText(`${MANY} live`)).toBeVisible();
    await expect(count).toHaveCount(0);
    await apply(page, filter);
    await expect(
      page.getByText(`100 ${door.noun}s loaded, more may match`, { exact: true }),
    ).toBeVisible();
    await count.click();
    await expect(
      page.getByText(`100 ${door.noun}s loaded, 225 match`, { exact: true }),
    ).toBeVisible();
    await page.getByRole('main').getByRole('button', { name: 'Refresh', exact: true }).click();
    await expect(
      page.getByText(`100 ${door.noun}s loaded, more may match`, { exact: true }),
    ).toBeVisible();
    await page.getByRole('button', { name: 'Load all' }).click();
    await expect(page.getByText(`225 ${door.noun}s match`, { exact: true })).toBeVisible();
    await expect(count).toHaveCount(0);
  });
}

for (const width of [1024, 1440, 1920]) {
  test(`the grid stays in its place when a filter is applied, ${width} px wide`, async ({
    page,
    server,
  }) => {
    await page.setViewportSize({ width, height: 800 });
    await mongo.create(server, 7200);
    await fillWith(server, mongo, MANY);
    await page.goto('/mongo/app/log/items');
    await expect(page.getByText(`100 documents loaded, ${MANY} live`)).toBeVisible();
    // Within the view: a banner above it, as for a slow response, moves the whole view.
    const top = () =>
      page.getByRole('tabpanel').evaluate((view) => {
        const grid = view.querySelector('[role=grid]')?.getBoundingClientRect();
        return (grid?.top ?? Number.NaN) - view.getBoundingClientRect().top;
      });
    await fontsReady(page);
    const before = await top();
    await apply(page, '{ user: "bob" }');
    const count = page.getByRole('button', { name: 'Count', exact: true });
    await expect(count).toBeVisible();
    expect(await top()).toBe(before);
    await count.click();
    await expect(count).not.toHaveAttribute('aria-busy');
    expect(await top()).toBe(before);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('expires within an hour');
    await expect(page.getByText('0 shown')).toBeVisible();
    expect(await top()).toBe(before);
    await apply(page, '{ user: "ada" }');
    await expect(page.getByRole('button', { name: 'Load all' })).toHaveCount(0);
    expect(await top()).toBe(before);
  });
}

test('another filter is taken while the last one is still under way', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  await page.route('**/_portal/api/mongo/app', async (route) => {
    if (route.request().postDataBuffer()?.includes('slow') === true) await held;
    // The page may have cancelled it.
    await route.fallback().catch(() => {});
  });
  await apply(page, '{ slow: 1 }');
  await expect(page.getByText(/loading…/)).toBeVisible();
  await apply(page, '{ user: "ada" }');
  await expect(rows(page)).toHaveCount(2);
  release();
});

test('a refused filter leaves the list and the address with the previous one', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, MANY);
  await page.goto('/mongo/app/log/items');
  await expect(page.getByText(`100 documents loaded, ${MANY} live`)).toBeVisible();
  const search = await apply(page, '{ n: { $nope: 1 } }');
  await expect(search.getByRole('alert')).toContainText('results of the previous filter');
  await expect(page).not.toHaveURL(/filter=/);
  // The list continues at the same position.
  await expect(page.getByText(`100 documents loaded, ${MANY} live`)).toBeVisible();
  await page.getByRole('grid').focus();
  await page.keyboard.press('End');
  await expect(page.getByText(`${MANY} documents loaded, ${MANY} live`)).toBeVisible();
  await expect(search.getByRole('alert')).toBeVisible();
  // A link with an invalid filter lists nothing.
  await page.goto(`/mongo/app/log/items?filter=${encodeURIComponent('{ n: { $nope: 1 } }')}`);
  await expect(search.getByRole('alert')).toHaveText(/\$nope/);
  await expect(search.getByRole('alert')).not.toContainText('previous filter');
  await expect(rows(page)).toHaveCount(0);
});

test('rows of one filter do not stand under another that was not answered', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  await page.goto('/mongo/app/log/items');
  await expect(rows(page)).toHaveCount(20);
  await page.route('**/_portal/api/mongo/app', async (route) => {
    const isAsked = route.request().postDataBuffer()?.includes('lost') === true;
    await (isAsked ? route.fulfill({ status: 500, body: 'It is broken.' }) : route.fallback());
  });
  const search = await apply(page, '{ lost: 1 }');
  await expect(page.getByRole('main').getByText('It is broken.')).toBeVisible();
  await expect(search.getByRole('alert')).toHaveCount(0);
  await expect(rows(page)).toHaveCount(0);
});

/** Returns the ids of all rows, read from top to bottom. */
async function everyRow(page: Page): Promise<string[]> {
  const grid = page.getByRole('grid');
  await page.keyboard.press('Home');
  await expect(rows(page).first()).toHaveAttribute('aria-rowindex', '2');
  const seen = new Map<string, string>();
  for (let active = 2; ; ) {
    const drawn = await rows(page).evaluateAll((found) =>
      found.map(
        (one) =>
          [
            one.ariaRowIndex ?? '',
            one.querySelector('[role=gridcell]')?.textContent ?? '',
          ] as const,
      ),
    );
    for (const [index, id] of drawn) seen.set(index, id);
    if (active === MANY + 1) return [...seen.values()];
    await page.keyboard.press('PageDown');
    // Rows are rendered one frame after the key, so wait before the next key.
    const before = active;
    await expect.poll(async () => (active = await activeRow(grid))).toBeGreaterThan(before);
  }
}

/** Returns the index of the active row; 0 while it is not rendered. */
function activeRow(grid: Locator): Promise<number> {
  return grid.evaluate((one) => {
    const row = document.getElementById(one.getAttribute('aria-activedescendant') ?? '');
    return Number(row?.ariaRowIndex ?? 0);
  });
}

test('Back takes the filter and the order before', async ({ page, server }) => {
  await mongo.create(server, null);
  for (const n of [1, 2, 3]) await mongo.put(server, `${n}`, { n });
  await page.goto('/mongo/app/log/items');
  const box = page.getByRole('textbox', { name: 'Filter' });
  const list = page.getByRole('grid').getByRole('row');
  await expect(list).toHaveCount(4);
  await write(page, box, '{ n: { $gt: 1 } }');
  await page.keyboard.press('Enter');
  await expect(list).toHaveCount(3);
  await write(page, box, '{ n: 3 }');
  await page.keyboard.press('Enter');
  await expect(list).toHaveCount(2);
  await page.getByRole('columnheader', { name: /^n/ }).click();
  await expect(page).toHaveURL(/sort=n/);
  await page.goBack();
  await expect(page).not.toHaveURL(/sort=/);
  await page.goBack();
  await expect(box).toHaveText('{ n: { $gt: 1 } }');
  await expect(list).toHaveCount(3);
  await page.goBack();
  await expect(box.locator('.cm-placeholder')).toBeVisible();
  await expect(list).toHaveCount(4);
});
