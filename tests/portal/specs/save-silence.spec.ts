// A save without response: reported within a second, can be cancelled and repeated.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { DOORS, type Door, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { removeFolder } from '../lib/folder';
import { innocent } from '../lib/innocent';
import { editor, openItem, rows, write } from '../lib/items';
import { noted } from '../lib/pane';
import { Server } from '../lib/server';
import { stopTime } from '../lib/time';

const NO_ANSWER = 'The server has not responded yet.';
const save = (pane: Locator) => pane.getByRole('button', { name: 'Save', exact: true });
const stop = (pane: Locator) => pane.getByRole('button', { name: 'Stop', exact: true });

/** Opens an item and types a change. */
async function typed(page: Page, server: Server, door: Door): Promise<Locator> {
  await door.create(server, null);
  await door.put(server, 'one', { n: 1 });
  await page.goto(`/${door.name}/app/log/items`);
  const pane = await openItem(page, door, 'one');
  await write(page, editor(pane), door.text('one', '"n": 2'));
  return pane;
}

for (const door of DOORS) {
  test(`${door.noun}: a save that hangs says so within a second, and goes through`, async ({
    page,
    server,
  }) => {
    await page.clock.install();
    const pane = await typed(page, server, door);
    await stopTime(page);
    server.signal('SIGSTOP');
    await save(pane).click();
    await page.clock.runFor(1000);
    await expect(pane.getByText(NO_ANSWER)).toBeVisible();
    await expect(stop(pane)).toBeVisible();
    await page.clock.resume();
    server.signal('SIGCONT');
    await noted(page, `Successfully updated ${door.noun} ${door.label('one')}`);
    await expect(pane.getByText(NO_ANSWER)).toHaveCount(0);
    expect(await door.get(server, 'one')).toEqual({ n: 2 });
  });

  test(`${door.noun}: a save that hangs is stopped, and what it did all the same is no conflict`, async ({
    page,
    server,
  }) => {
    const pane = await typed(page, server, door);
    server.signal('SIGSTOP');
    await save(pane).click();
    await stop(pane).press('Enter');
    await expect(pane.getByText(/may or may not have been applied/)).toBeVisible();
    await expect(save(pane)).toBeEnabled();
    await expect(save(pane)).toBeFocused();
    await expect(editor(pane)).toContainText('2');
    server.signal('SIGCONT');
    // As if the cancelled save had succeeded.
    await door.put(server, 'one', { n: 2 });
    await noted(page, `Successfully updated ${door.noun} ${door.label('one')}`);
    await expect(pane.getByText(/may not have been applied|is back/)).toHaveCount(0);
    await expect(pane.getByText('unsaved')).toHaveCount(0);
    expect(await door.get(server, 'one')).toEqual({ n: 2 });
  });
}

for (const door of DOORS) {
  for (const more of ['', ', "more": 1']) {
    const named = more === '' ? 'sent again' : 'changed and sent again';
    test(`${door.noun}: a new one whose answer is lost is there once when it is ${named}`, async ({
      page,
      server,
    }) => {
      await door.create(server, null);
      await page.goto(`/${door.name}/app/log/items`);
      const noun = door.noun === 'item' ? 'Item' : 'Document';
      await page.getByRole('button', { name: `New ${noun}` }).click();
      const pane = page.getByRole('region', { name: `New ${noun}` });
      const text = (fields: string) =>
        door === nosql ? door.text('one', fields) : `{ ${fields} }`;
      await write(page, editor(pane), text('"word": "planted"'));
      let lost = 0;
      // The request succeeds, but its response is lost.
      await page.route('**/_portal/api/**', async (route) => {
        const body = route.request().postDataBuffer();
        if (lost > 0 || body?.includes('planted') !== true) return route.fallback();
        lost += 1;
        await route.fetch();
        return route.abort();
      });
      await save(pane).click();
      const again = pane.getByRole('button', { name: 'Save again' });
      await expect(again).toBeVisible();
      const known = door === nosql && more !== '';
      if (more !== '') await write(page, editor(pane), text(`"word": "planted"${more}`));
      await again.click();
      if (known) await expect(pane.getByText(/exists/)).toBeVisible();
      else await noted(page, new RegExp(`Successfully created ${door.noun}`));
      expect(lost).toBe(1);
      await page.unrouteAll();
      if (known) return;
      await page.reload();
      await expect(rows(page)).toHaveCount(1);
    });
  }
}

test('a save that a server refuses while it is being opened is done again by a button', async ({
  page,
  server,
}) => {
  const pane = await typed(page, server, nosql);
  const why = 'replay: the store is being opened, for 3 s so far';
  const refused = { status: 503, json: { code: 'ServiceUnavailable', message: why } };
  for (const path of ['**/status', '**/_ebb/clock', '**/docs/one'])
    await page.route(path, (route) => route.fulfill(refused));
  await expect(page.getByText(/The server is not ready yet/)).toBeVisible();
  await save(pane).click();
  await expect(pane.getByText('The server did not respond to the save')).toBeVisible();
  await page.unrouteAll();
  await expect(pane.getByText('The server is back: save again.')).toBeVisible();
  await innocent(page, 'a save that is to be done again');
  await pane.getByRole('button', { name: 'Save again' }).click();
  await expect.poll(() => nosql.get(server, 'one')).toEqual({ n: 2 });
});

test.describe('killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ebb-lost-'));
  test.use({ options: { dataDir: join(folder, 'data') } });
  test.afterAll(() => removeFolder(folder));

  test('what failed while the server was away says that it is back', async ({ page, server }) => {
    const door = nosql;
    const pane = await typed(page, server, door);
    // Prevents the pane from polling the stored version.
    await page.route('**/docs/one', (route) =>
      route.request().headers()['if-none-match'] === undefined ? route.fallback() : route.abort(),
    );
    await server.kill();
    await save(pane).click();
    await expect(pane.getByText('The server did not respond to the save')).toBeVisible();
    await expect(page.getByText(/The server has not responded since/)).toBeVisible();
    await expect(pane.getByText('Your text is kept.')).toBeVisible();
    const back = await Server.start(server.sameAgain());
    try {
      await expect(pane.getByText('The server is back: save again.')).toBeVisible();
      await expect(pane.getByText('The server did not respond')).toHaveCount(0);
      // As if the save had succeeded without its response.
      await door.put(back, 'one', { n: 2 });
      await pane.getByRole('button', { name: 'Save again' }).press('Enter');
      await noted(page, `Successfully updated ${door.noun} ${door.label('one')}`);
      await expect(pane.getByText('The server is back')).toHaveCount(0);
      await expect(save(pane)).toBeFocused();
      expect(await door.get(back, 'one')).toEqual({ n: 2 });
    } finally {
      await back.stop();
    }
  });
});
