// The query history shows each run's outcome, survives a reload, and can be filtered by failures.
import type { Page } from '@playwright/test';
import { DOORS, fillWith, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { write } from '../lib/items';

const summary = (page: Page) => page.locator('.query-bar').getByRole('status');
const past = (page: Page) => page.locator('.query-history').getByRole('button');
const onlyFailed = (page: Page) => page.getByRole('checkbox', { name: /^Failed only/ });

for (const door of DOORS) {
  test(`${door.name}: what came of each run is kept, and the failed ones are found`, async ({
    page,
    server,
  }) => {
    const [field, good, wrong, said] =
      door === nosql
        ? ['Query', 'SELECT * FROM c', 'SELECT NOPE(c.n) FROM c', /NOPE/]
        : ['Filter', '{ n: { $gte: 0 } }', '{ n: { $nope: 1 } }', /nope/];
    await door.create(server, null);
    await fillWith(server, door, 120);
    await page.goto(`/${door.name}/app/log/query`);
    const box = page.getByRole('textbox', { name: field, exact: true });
    const run = async (text: string) => {
      await write(page, box, text);
      await page.keyboard.press('Control+Enter');
    };
    await run(good);
    await expect(summary(page)).toContainText('100');
    await run(wrong);
    const alert = page.getByRole('main').getByRole('alert');
    await expect(alert).toContainText(said);

    await page.getByRole('tab', { name: 'History' }).click();
    await expect(past(page)).toHaveCount(2);
    // A cancelled run is not a failed one.
    const link = door === nosql ? '**/_portal/api/nosql/**/docs' : '**/_portal/api/mongo/app';
    await page.route(link, () => {
      // Never responds.
    });
    await run(good);
    await expect(summary(page)).toHaveText('Running…');
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await expect(summary(page)).toHaveText('Cancelled.');

    await page.reload();
    await page.getByRole('tab', { name: 'History' }).click();
    await expect(past(page)).toHaveCount(3);
    const when = /app › log, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;
    await expect(past(page).nth(0)).toContainText(/Cancelled after [\d.]+ (µs|ms|s)/);
    await expect(past(page).nth(1)).toContainText(/Failed after [\d.]+ (µs|ms|s): .*nope/i);
    await expect(past(page).nth(2)).toContainText(/100 results and more in [\d.]+ (µs|ms|s)/);
    for (const at of [0, 1, 2]) await expect(past(page).nth(at)).toContainText(when);
    await innocent(page, 'history');

    await expect(onlyFailed(page)).toHaveAccessibleName('Failed only (1)');
    await onlyFailed(page).press('Space');
    await expect(past(page)).toHaveCount(1);
    await past(page).press('Enter');
    await expect(box).toHaveText(wrong);
    await onlyFailed(page).press('Space');
    await expect(past(page)).toHaveCount(3);
  });
}

test('where nothing failed that is said, and a history from before outcomes is kept', async ({
  page,
  server,
}) => {
  await nosql.create(server, null);
  await page.addInitScript(() => {
    const old = [{ at: 0, place: 'app › log', texts: { text: 'SELECT VALUE 7' } }];
    localStorage.setItem('ebb:history:nosql', JSON.stringify(old));
  });
  await page.goto('/nosql/app/log/query');
  await page.getByRole('tab', { name: 'History' }).click();
  await expect(past(page)).toHaveText(/SELECT VALUE 7.*1970-01-01/);
  await onlyFailed(page).check();
  await expect(page.getByText('No failed queries.')).toBeVisible();
  await expect(past(page)).toHaveCount(0);
});
