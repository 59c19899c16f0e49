// Every invalid TTL shows its error at the field and cannot be saved.
import { expect, test } from '../lib/fixtures';
import { chooseTtl } from '../lib/pane';

const WRONG: [typed: string, why: RegExp][] = [
  ['', /seconds/i],
  ['0', /minimum is 1/],
  ['-5', /negative|least/i],
  ['-1', /On \(no default\)/],
  ['1.5', /whole/i],
  ['2147483648', /2,?147,?483,?647/],
  ['abc', /number|digits/i],
  ['1e3', /digits|whole/i],
  ['99999999999999999999999', /2,?147,?483,?647/],
];

for (const door of ['nosql', 'mongo'] as const) {
  test(`inline errors, ${door}`, async ({ page, server }) => {
    if (door === 'nosql') {
      const { database } = await server.cosmos.databases.create({ id: 'app' });
      await database.containers.create({ id: 'sessions', partitionKey: { paths: ['/id'] } });
    } else {
      await (await server.mongo()).db('app').createCollection('sessions');
    }
    await page.goto(`/${door}/app/sessions/settings`);
    const field = page.locator('#timeToLiveSeconds');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    const seen = new Set<string>();
    for (const [typed, why] of WRONG) {
      await chooseTtl(page, 'On', typed === '' ? '5' : typed);
      if (typed === '') await field.fill('');
      await expect(field).toHaveAttribute('aria-invalid', 'true');
      await expect(field).toHaveValue(typed);
      const described = (await field.getAttribute('aria-describedby')) ?? '';
      const texts = await Promise.all(
        described.split(' ').map((id) => page.locator(`[id="${id}"]`).innerText()),
      );
      expect(texts.join(' ')).toMatch(why);
      seen.add(texts.join(' '));
      await expect(save).toBeDisabled();
    }
    expect(seen.size).toBeGreaterThanOrEqual(7);
    for (const right of ['1', '2147483647']) {
      await field.fill(right);
      await expect(field).toHaveAttribute('aria-invalid', 'false');
      await expect(save).toBeEnabled();
    }
  });
}
