// The palette finds queries run in this browser and opens them in the form.
import { DOORS } from '../lib/door';
import { expect, test } from '../lib/fixtures';

for (const door of DOORS) {
  test(`a recent query, ${door.name}`, async ({ page, server }) => {
    await door.create(server, null);
    await door.put(server, 'one', { n: 1 });
    await page.goto(`/${door.name}/app/log/query`);
    const [name, typed] =
      door.name === 'nosql' ? ['Query', 'SELECT c.n FROM c WHERE c.n = 1'] : ['Filter', '{ n: 1 }'];
    const text = page.getByRole('textbox', { name, exact: true });
    await text.focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(typed);
    await page.keyboard.press('Control+Enter');
    await expect(page.locator('.query-summary').first()).toContainText('1');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('another');
    await expect(page).toHaveURL(/another/);
    await page.goto('/');
    // The open database, and its collection.
    await expect(page.getByRole('treeitem')).toHaveCount(2);
    await page.keyboard.press('Control+K');
    await expect(page.getByRole('combobox', { name: /^Find/ })).toBeFocused();
    await page.keyboard.type(typed);
    const group = page.getByRole('group', { name: 'Recent queries' });
    await expect(group.getByRole('option').first()).toContainText(typed);
    await expect(group.getByRole('option', { selected: true })).toContainText('app › log');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`/${door.name}/app/log/query\\?`));
    await expect(text).toContainText(typed);
  });
}
