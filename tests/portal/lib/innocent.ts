// What is shown has no violation of WCAG 2.2 AA that axe finds: light and dark, at 100 and 200 %.
import type { Page } from '@playwright/test';
import axe, { type RunOptions } from 'axe-core';
import { expect } from './fixtures';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Without what only other results than violations need, and what would load the style sheets anew. */
const ALWAYS: RunOptions = { resultTypes: ['violations'], preload: false };
const ALL: RunOptions = {
  ...ALWAYS,
  runOnly: { type: 'tag', values: WCAG },
  // Switched on by itself: axe counts it among its experiments.
  rules: { 'label-content-name-mismatch': { enabled: true } },
};
const COLOURS: RunOptions = { ...ALWAYS, runOnly: { type: 'rule', values: ['color-contrast'] } };
/** 200 % of zoom halves what fits. */
const [ZOOMED, WHOLE] = [
  { width: 640, height: 400 },
  { width: 1280, height: 800 },
];
/** From one scheme to the other only colours change. */
const LOOKS = [
  { size: ZOOMED, scheme: 'light', options: ALL },
  { size: WHOLE, scheme: 'dark', options: COLOURS },
  { size: WHOLE, scheme: 'light', options: ALL },
] as const;

/** The list of completions, which scrolls where the window is low. The arrows go through it from the editor, as
 * they do in the list of a combobox; of that axe knows that nothing in it has to take the keyboard. */
const COMPLETIONS = { rule: 'scrollable-region-focusable', node: /#cm-ac-\w+$/ };

/** What is shown, at both sizes and in both schemes. */
export async function innocent(page: Page, where: string) {
  // Its half a megabyte goes into each document once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  for (const { size, scheme, options } of LOOKS) {
    await page.setViewportSize(size);
    // A colour on its way from one scheme to the other is not what is shown.
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    const found = await page.evaluate(async (asked) => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(asked);
      return violations.map(({ id, nodes }) => ({
        rule: id,
        nodes: nodes.map((node) => node.target.join(' ')),
      }));
    }, options);
    const wrong = found.filter(
      ({ rule, nodes }) =>
        rule !== COMPLETIONS.rule || !nodes.every((node) => COMPLETIONS.node.test(node)),
    );
    expect(wrong, `${where}, ${scheme}, ${size.width} px`).toEqual([]);
  }
}
