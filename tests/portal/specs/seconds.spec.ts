// Every input of a duration in seconds has the same units, abbreviations, messages and errors.
import type { Locator, Page } from '@playwright/test';
import { mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { openItem, rows } from '../lib/items';

const UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks'];

const SHORT = [
  ['90d', '7776000 s = 90 days', 'day'],
  ['36h', '129600 s = 1 day 12 hours', 'hour'],
  ['15m', '900 s = 15 minutes', 'minute'],
  ['45s', '45 s = 45 seconds', 'second'],
] as const;

const WRONG = [
  ['1.5h', '1.5 is not a whole number: a decimal point is not allowed.'],
  ['ten', '“ten” is not a number: use the digits 0 to 9 only.'],
  ['3551w', '3551 weeks are too many: the maximum is 3,550 weeks (about 68 years 35 days).'],
] as const;

const dialog = (page: Page) => page.getByRole('dialog');

/** Opens each form; the returned locator contains the field's messages. */
const FORMS: [name: string, open: (page: Page) => Promise<Locator>][] = [
  [
    'a new collection',
    async (page) => {
      await page.goto('/mongo/app');
      await page.getByRole('main').getByRole('button', { name: 'New collection' }).click();
      await dialog(page).getByRole('radio', { name: 'On', exact: true }).check();
      return dialog(page);
    },
  ],
  [
    'the default of a collection',
    async (page) => {
      await page.goto('/mongo/app/log/settings');
      await page.getByRole('radio', { name: 'On', exact: true }).check();
      return page.getByRole('main');
    },
  ],
  [
    'the default of several collections',
    async (page) => {
      await page.goto('/mongo/app');
      await page.getByRole('checkbox', { name: 'Select log', exact: true }).check();
      await page.getByRole('button', { name: 'Set default TTL…' }).click();
      return dialog(page);
    },
  ],
  [
    'the ttl of selected documents',
    async (page) => {
      await page.goto('/mongo/app/log/items');
      await expect(rows(page)).toHaveCount(1);
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+A');
      await page.getByRole('toolbar').getByRole('button', { name: 'Set ttl…' }).click();
      return dialog(page);
    },
  ],
  [
    'a date index',
    async (page) => {
      await page.goto('/mongo/app/log/settings?section=date-indexes');
      await page.getByRole('button', { name: 'New date TTL index' }).click();
      return dialog(page);
    },
  ],
];

for (const [name, open] of FORMS) {
  test(`${name} asks as all others do`, async ({ page, server }) => {
    await mongo.create(server, null);
    await mongo.put(server, 'one', { n: 1 });
    const form = await open(page);
    const field = form.getByRole('textbox', { name: /in (second|minute|hour|day|week)s$/ });
    const unit = form.getByRole('combobox', { name: 'Unit' });
    await expect(field).toHaveAccessibleName(/in seconds$/);
    await expect(field).toHaveValue('');
    await expect(unit.getByRole('option')).toHaveText(UNITS);
    for (const [typed, said, meant] of SHORT) {
      await field.fill(typed);
      await expect(field).toHaveAccessibleDescription(new RegExp(`^${said}`));
      await expect(unit).toHaveValue(meant);
    }
    // An untouched field shows examples; an emptied one shows an error.
    await field.fill('');
    await expect(field).toHaveAccessibleDescription(
      /^(For example 90d, 36h, 15m or 45s|Enter a number of seconds, or one with its unit: 90d, )/,
    );
    for (const [typed, said] of WRONG) {
      await field.fill(typed);
      await expect(field).toHaveAccessibleDescription(
        new RegExp(`^${said.replace(/[().]/g, '.')}`),
      );
    }
    // The selected unit overrides the typed one.
    await field.fill('36h');
    await unit.selectOption('days');
    await expect(field).toHaveValue('36');
    await expect(field).toHaveAccessibleDescription(/^3110400 s = 36 days/);
    await innocent(page, name);
  });
}

test('a document is extended by what is typed in the same way', async ({ page, server }) => {
  await mongo.create(server, 60);
  await mongo.put(server, 'one', { n: 1 });
  await page.goto('/mongo/app/log/items');
  const pane = await openItem(page, mongo, 'one');
  const field = pane.getByLabel('Extend by');
  const extend = pane.getByRole('button', { name: 'Extend' });
  await field.fill('1.5');
  await expect(extend).toBeDisabled();
  await expect(field).toHaveAccessibleDescription(/not a whole number/);
  await field.fill('0');
  await expect(field).toHaveAccessibleDescription('The time to add must be greater than 0.');
  await field.fill('2m');
  await expect(pane.getByRole('combobox', { name: 'Unit' })).toHaveValue('minute');
  await extend.click();
  await expect.poll(() => mongo.get(server, 'one')).toEqual({ n: 1, ttl: 180 });
});
