// Expiry of an item: it disappears at its second and not earlier; Extend, Restart countdown and
// Never work; the last hour is amber and the last minute red.
import type { Locator } from '@playwright/test';
import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, expires, openItem, row, write } from '../lib/items';
import { fontsReady } from '../lib/layout';
import { noted } from '../lib/pane';

const DAYS = 86_400;

/** Classifies a colour: red is far above green and blue; amber has green far above blue. */
async function toneOf(text: Locator): Promise<'red' | 'amber' | 'plain'> {
  const color = await text.evaluate((element) => getComputedStyle(element).color);
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  if (red < green + 30 || red < blue + 60) return 'plain';
  return green > blue + 40 ? 'amber' : 'red';
}

for (const door of DOORS) {
  const { noun } = door;

  test(`${noun}: leaves at its second`, async ({ page, server }) => {
    await door.create(server, 7210);
    await door.put(server, 'plain', { n: 1 });
    await door.put(server, 'short', { ttl: 20 });
    await page.goto(`/${door.name}/app/log/items`);
    await expect(expires(page, door, 'plain')).toContainText('02:00:10');
    await expect(expires(page, door, 'short')).toContainText('00:20');
    await server.advance(19);
    await expect(expires(page, door, 'short')).toContainText('00:01');
    expect(await door.ids(server)).toEqual(['plain', 'short']);
    await server.advance(1);
    await expect(row(page, door, 'short')).toHaveCount(0);
    await expect(row(page, door, 'plain')).toHaveCount(1);
    expect(await door.ids(server)).toEqual(['plain']);

    const time = expires(page, door, 'plain').locator('.items-left');
    await server.advance(3590);
    await expect(time).toHaveText('01:00:00');
    expect(await toneOf(time)).toBe('plain');
    await server.advance(1);
    await expect(time).toHaveText('59:59');
    expect(await toneOf(time)).toBe('amber');
    await server.advance(3539);
    await expect(time).toHaveText('01:00');
    expect(await toneOf(time)).toBe('amber');
    await server.advance(1);
    await expect(time).toHaveText('00:59');
    expect(await toneOf(time)).toBe('red');
    await server.advance(58);
    await expect(time).toHaveText('00:01');
    await server.advance(1);
    await expect(row(page, door, 'plain')).toHaveCount(0);
    await expect(page.getByText(`There are no ${noun}s.`)).toBeVisible();
    expect(await door.ids(server)).toEqual([]);
  });

  test(`${noun}: extended, restarted and made endless`, async ({ page, server }) => {
    await door.create(server, 60);
    for (const id of ['longer', 'touched', 'endless']) await door.put(server, id, { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    await server.advance(10);
    await expect(expires(page, door, 'touched')).toContainText('00:50');

    let pane = await openItem(page, door, 'touched');
    await pane.getByRole('button', { name: 'Restart countdown' }).click();
    await noted(page, `Successfully updated ${noun} ${door.label('touched')}`);
    await expect(expires(page, door, 'touched')).toContainText('01:00');
    expect(await door.get(server, 'touched')).toEqual({ n: 1 });

    pane = await openItem(page, door, 'longer');
    await pane.getByLabel('Extend by').fill('2');
    await pane.getByLabel('Unit').selectOption('minutes');
    await expect(pane.getByText('Sets ttl to 170 ')).toBeVisible();
    await pane.getByRole('button', { name: 'Extend' }).click();
    await noted(page, `Successfully updated ${noun} ${door.label('longer')}`);
    await expect(expires(page, door, 'longer')).toContainText('02:50');
    expect(await door.get(server, 'longer')).toEqual({ n: 1, ttl: 170 });

    pane = await openItem(page, door, 'endless');
    await write(page, editor(pane), door.text('endless', '"n": 2'));
    for (const name of ['Extend', 'Restart countdown', 'Never']) {
      await expect(pane.getByRole('button', { name, exact: true })).toBeDisabled();
    }
    await expect(pane.getByText('Save or discard your changes first.').first()).toBeVisible();
    await pane.getByRole('button', { name: 'Discard' }).click();
    await pane.getByRole('button', { name: 'Never' }).click();
    await noted(page, `Successfully updated ${noun} ${door.label('endless')}`);
    await expect(expires(page, door, 'endless')).toHaveText('never (ttl = -1)');
    await expect(pane.getByText('ttl is already -1.')).toBeVisible();
    expect(await door.get(server, 'endless')).toEqual({ n: 1, ttl: -1 });

    await server.advance(59);
    await expect(expires(page, door, 'touched')).toContainText('00:01');
    expect(await door.ids(server)).toEqual(['endless', 'longer', 'touched']);
    await server.advance(1);
    await expect(row(page, door, 'touched')).toHaveCount(0);
    expect(await door.ids(server)).toEqual(['endless', 'longer']);
    await server.advance(109);
    expect(await door.ids(server)).toEqual(['endless', 'longer']);
    await server.advance(1);
    await expect(row(page, door, 'longer')).toHaveCount(0);
    await server.advance(90 * DAYS);
    await expect(row(page, door, 'endless')).toHaveCount(1);
    expect(await door.ids(server)).toEqual(['endless']);
  });
}

for (const door of DOORS) {
  test(`${door.name}: where there is no countdown, one line says why`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/items`);
    const pane = await openItem(page, door, 'one');
    const line = pane.locator('.items-life-off');
    await expect(line).toContainText('Time left');
    await expect(line).toContainText('TTL is off');
    await expect(pane.getByRole('button', { name: 'Extend' })).toHaveCount(0);
    await fontsReady(page);
    const height = (await line.boundingBox())?.height ?? 0;
    expect(height).toBeGreaterThan(10);
    expect(height).toBeLessThan(50);
  });
}
