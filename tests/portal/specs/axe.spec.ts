// No violation of WCAG 2.1 AA that axe finds, on any page, light and dark, at 100 and 200 %.
import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '../lib/fixtures';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
/** 200 % of zoom halves what fits. */
const SIZES = [
  { zoom: '100 %', viewport: { width: 1280, height: 800 } },
  { zoom: '200 %', viewport: { width: 640, height: 400 } },
];

for (const { zoom, viewport } of SIZES) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test.describe(`${colorScheme}, ${zoom}`, () => {
      test.use({ viewport, colorScheme });
      test('every page', async ({ page, server }) => {
        test.setTimeout(120_000);
        await page.request.post(`${server.url}/_ebb/quickstart`, { data: {} });
        const views = ['items', 'settings', 'query', 'metrics'];
        const of = (door: string) => views.map((view) => `/${door}/quickstart/sessions/${view}`);
        const pages = ['/', '/features', '/monitor', '/nosql/quickstart', ...of('nosql'), ...of('mongo')];
        for (const path of pages) {
          await page.goto(path);
          await expect(page.getByRole('heading').first()).toBeVisible();
          await page.waitForLoadState('networkidle');
          if (path.endsWith('/items')) await page.getByRole('grid').getByRole('row').nth(1).click();
          if (path.endsWith('/settings')) await page.getByRole('radio', { name: 'Off', exact: true }).check();
          const { violations } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
          const found = violations.map((violation) => ({
            path,
            rule: violation.id,
            where: violation.nodes.map((node) => node.target.join(' ')),
          }));
          expect(found).toEqual([]);
        }
      });
    });
  }
}
