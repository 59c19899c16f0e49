// A slow connection: the frame appears at once, and the page's requests are sent in parallel.
import type { Page } from '@playwright/test';
import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { rows } from '../lib/items';

/** Delays the session response until the returned function is called. */
async function holdSession(page: Page): Promise<() => void> {
  let letGo = () => {};
  const held = new Promise<void>((done) => {
    letGo = done;
  });
  await page.route('**/_portal/api/session', async (route) => {
    await held;
    await route.continue();
  });
  return letGo;
}

const NEEDED = {
  nosql: [
    /\/nosql\/dbs$/,
    /\/dbs\/app\/colls$/,
    /\/colls\/log$/,
    /\/expiry\?/,
    /\/assets\/editing-/,
  ],
  mongo: [/\/expiry\?/, /\/assets\/editing-/, /\/assets\/bson-/],
};

for (const door of DOORS) {
  test(`the frame first, and everything together: ${door.name}`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', {});
    const letGo = await holdSession(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`/${door.name}/app/log/items`, { waitUntil: 'commit' });
    await expect(page.getByRole('banner')).toContainText('EbbDB');
    await expect(page.getByRole('main').getByText('Loading…')).toBeAttached();
    for (const url of NEEDED[door.name]) {
      await expect.poll(() => asked.filter((one) => url.test(one)).length).toBe(1);
    }
    letGo();
    await expect(rows(page)).toHaveCount(1);
    // Prefetched responses were used: no request was sent twice.
    const twice = NEEDED[door.name]
      .filter((url) => !url.source.includes('expiry'))
      .filter((url) => asked.filter((one) => url.test(one)).length > 1);
    expect(twice).toEqual([]);
  });
}

test('something is drawn before there is any code', async ({ page, server }) => {
  await page.route(/\/assets\/.*\.js$/, () => {});
  await page.goto(server.url, { waitUntil: 'commit' });
  await expect(page.getByText('EbbDB', { exact: true })).toBeVisible();
  await expect(page.locator('.frame-tree')).toBeVisible();
});
