// Asserts WCAG 2.2 AA as far as axe checks it: light and dark, at 100 and 200 % zoom.
import type { Page } from '@playwright/test';
import axe, { type RunOptions } from 'axe-core';
import { expect } from './fixtures';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Computes only violations, and does not reload style sheets. */
const ALWAYS: RunOptions = { resultTypes: ['violations'], preload: false };
const ALL: RunOptions = {
  ...ALWAYS,
  runOnly: { type: 'tag', values: WCAG },
  // Enabled explicitly: axe considers it experimental.
  rules: { 'label-content-name-mismatch': { enabled: true } },
};
const COLOURS: RunOptions = { ...ALWAYS, runOnly: { type: 'rule', values: ['color-contrast'] } };
/** 200 % zoom halves the viewport. */
const [ZOOMED, WHOLE] = [
  { width: 640, height: 400 },
  { width: 1280, height: 800 },
];
/** The other colour scheme changes only colours, so only contrast is checked. */
const LOOKS = [
  { size: ZOOMED, scheme: 'light', options: ALL },
  { size: WHOLE, scheme: 'dark', options: COLOURS },
  { size: WHOLE, scheme: 'light', options: ALL },
] as const;

/**
 * The completion list, which scrolls in a low window. Arrow keys in the editor move through it, as
 * in a combobox, so its content need not be focusable; axe does not recognize that.
 */
const COMPLETIONS = { rule: 'scrollable-region-focusable', node: /#cm-ac-\w+$/ };

/** Checks the current page at both sizes and in both schemes. */
export async function innocent(page: Page, where: string) {
  // Injected once per document, since it has half a megabyte.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  for (const { size, scheme, options } of LOOKS) {
    await page.setViewportSize(size);
    // Without transitions, whose intermediate colours would be checked.
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
