// What is shown has no violation of WCAG 2.2 AA that axe finds: light and dark, at 100 and 200 %.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './fixtures';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Switched on by themselves: axe counts it among its experiments. */
const MORE = { 'label-content-name-mismatch': { enabled: true } };
/** 200 % of zoom halves what fits. */
const [ZOOMED, WHOLE] = [
  { width: 640, height: 400 },
  { width: 1280, height: 800 },
];
/** From one scheme to the other only colours change. */
const LOOKS = [
  { size: ZOOMED, scheme: 'light', rules: null },
  { size: WHOLE, scheme: 'dark', rules: ['color-contrast'] },
  { size: WHOLE, scheme: 'light', rules: null },
] as const;

/** What is shown, at both sizes and in both schemes. */
export async function innocent(page: Page, where: string) {
  for (const { size, scheme, rules } of LOOKS) {
    await page.setViewportSize(size);
    // A colour on its way from one scheme to the other is not what is shown.
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const axe = new AxeBuilder({ page });
    const runOnly = { type: 'tag' as const, values: WCAG };
    const chosen =
      rules === null ? axe.options({ runOnly, rules: MORE }) : axe.withRules([...rules]);
    const found = (await chosen.analyze()).violations.map((violation) => ({
      where: `${where}, ${scheme}, ${size.width} px`,
      rule: violation.id,
      nodes: violation.nodes.map((node) => node.target.join(' ')),
    }));
    expect(found).toEqual([]);
  }
}
