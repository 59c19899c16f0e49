// Undo of many deletions: progress is shown on every page, and the outcome is reported once.
import type { Page } from '@playwright/test';
import { DOORS, fillWith, numbered } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { rows } from '../lib/items';

const dialog = (page: Page) => page.getByRole('dialog');
const corner = (page: Page) => page.getByRole('region', { name: 'Notifications' });
const N = 700;

for (const door of DOORS) {
  const { noun } = door;

  test(`${noun}s come back, with a bar on every page`, async ({ page, server }) => {
    await door.create(server, 86_400);
    await fillWith(server, door, N);
    await page.goto(`/${door.name}/app/log/items`);
    await page.getByRole('button', { name: 'All matching…' }).click();
    await page.getByRole('menuitem', { name: 'Delete all…' }).click();
    await dialog(page)
      .getByRole('button', { name: `Delete ${N} ${noun}s` })
      .click();
    await expect(rows(page)).toHaveCount(0);
    // A concurrent change of one of the last.
    await door.put(server, numbered(N - 1), { n: 'theirs' });

    // The first batch passes; the next one is held.
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    const most = door.name === 'mongo' ? 1 : 100;
    let asked = 0;
    const isWrite = (method: string, body: string | null) =>
      method === 'PATCH' || body?.includes('updates') === true;
    await page.route(/_portal\/api\//, async (route) => {
      const request = route.request();
      if (isWrite(request.method(), request.postData())) {
        asked += 1;
        if (asked > most) await held;
      }
      await route.continue();
    });
    const undo = corner(page).getByRole('button', { name: /^Undo/ });
    await undo.focus();
    await page.keyboard.press('Enter');
    const bar = corner(page).getByRole('progressbar', { name: `Restoring ${N} ${noun}s` });
    const first = door.name === 'mongo' ? 500 : 100;
    await expect(corner(page)).toContainText(`${first} of ${N}`);
    await expect(bar).toHaveJSProperty('value', first);
    await expect(bar).toHaveJSProperty('max', N);
    await innocent(page, 'a bar in the corner');
    await page.getByRole('link', { name: 'Features' }).first().click();
    await expect(page).toHaveURL(/\/features/);
    await expect(corner(page)).toContainText(`${first} of ${N}`);
    release();

    const said = `Restored ${N - 1} ${noun}s; 1 changed by others, left unchanged`;
    await expect(corner(page)).toContainText(said);
    await expect(bar).toHaveCount(0);
    const log = page.getByRole('region', { name: 'Console' });
    await expect(log.locator('[aria-live]')).toHaveText(said);
    await log.getByRole('button', { name: /^Console/ }).click();
    await expect(log.getByRole('listitem').filter({ hasText: /Restored/ })).toHaveCount(1);
    expect(await door.get(server, numbered(0))).not.toHaveProperty('ttl');
    expect(await door.get(server, numbered(N - 2))).not.toHaveProperty('ttl');
    expect(await door.get(server, numbered(N - 1))).toMatchObject({ n: 'theirs' });
    await page.goBack();
    await expect(rows(page).first()).toBeVisible();
    await expect(page.getByText(/^1 deleted, expiring within/)).toBeVisible();
  });
}
