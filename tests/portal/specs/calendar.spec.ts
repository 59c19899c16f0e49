// Setting the clock to a day chosen from the calendar, in UTC, with the keyboard only.
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { focusSeen, tabTo } from '../lib/keyboard';

test.use({ timezoneId: 'Pacific/Auckland' });

test('a day, chosen by keyboard', async ({ page, server }) => {
  const admin = (await server.mongo()).db('admin');
  await admin.command({ ebbClock: 1, set: new Date('2030-01-31T23:30:00Z') });
  await page.goto('/');
  const field = page.getByLabel('Set to (UTC)');
  await expect(field).toHaveAttribute('placeholder', '2030-01-31 23:30:00');
  const button = page.getByRole('button', { name: 'Choose a day' });
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  const calendar = page.getByRole('dialog', { name: 'Choose a day (UTC)' });
  const day = (name: string) => calendar.getByRole('button', { name });
  await expect(day('Thursday 31 January 2030')).toBeFocused();
  await expect(day('Thursday 31 January 2030')).toHaveAttribute('aria-current', 'date');
  await focusSeen(page);
  await innocent(page, 'calendar');
  // A past day cannot be chosen: the clock never goes back.
  await page.keyboard.press('ArrowLeft');
  await expect(day('Wednesday 30 January 2030')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(calendar).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('PageDown');
  await expect(day('Thursday 28 February 2030')).toBeFocused();
  await page.keyboard.press('Home');
  await expect(day('Monday 25 February 2030')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(calendar).toHaveCount(0);
  await expect(button).toBeFocused();
  // The time of day is kept.
  await expect(field).toHaveValue('2030-02-25 23:30:00');
  await page.keyboard.press('Enter');
  await expect(day('Monday 25 February 2030')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(calendar).toHaveCount(0);
  await expect(button).toBeFocused();
  await tabTo(page, page.getByRole('button', { name: 'Set', exact: true }));
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => ((await admin.command({ ebbClock: 1 })).now as Date).toISOString())
    .toBe('2030-02-25T23:30:00.000Z');
});
