// Time to first paint of the portal on loopback, with an empty and a warm cache.
import { expect, test } from '../lib/fixtures';

const ROUNDS = 9;

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

test('first paint', async ({ browser, server }) => {
  await (await browser.newContext()).request.post(`${server.url}/_ebb/quickstart`, { data: {} });
  for (const path of [
    '/',
    '/nosql/quickstart/sessions/items',
    '/nosql/quickstart/sessions/settings',
  ]) {
    const [first, shown]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(server.url + path);
      await page.getByRole('heading').first().waitFor();
      const times = await page.evaluate(() => ({
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
        now: performance.now(),
      }));
      first.push(times.paint);
      shown.push(times.now);
      await context.close();
    }
    const [paint, heading] = [median(first), median(shown)].map((ms) => ms.toFixed(0));
    console.log(
      `${path}: first contentful paint ${paint} ms, heading there ${heading} ms (median of ${ROUNDS})`,
    );
    expect(first.every((ms) => ms > 0)).toBe(true);
  }
});
