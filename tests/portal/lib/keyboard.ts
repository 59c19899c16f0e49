// Keyboard-only user: moves by Tab, and checks at each stop that the focus is visible.
import { expect, type Locator, type Page } from '@playwright/test';

const MOST_STOPS = 150;

interface Stop {
  /** The focused element, for messages. */
  name: string;
  /** Whether it is in the window and not covered. */
  inSight: boolean;
  /** Whether it, or the frame of its editor, is outlined. */
  outlined: boolean;
}

/** Returns the focused element; null: none, the end of the page was passed. */
async function stop(page: Page): Promise<Stop | null> {
  return page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement != null) element = element.shadowRoot.activeElement;
    if (element === null || element === document.body) return null;
    const frame = element.closest('.cm-editor') ?? element;
    const box = frame.getBoundingClientRect();
    const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
    const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
    const root = frame.getRootNode() as Document | ShadowRoot;
    const at = root.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const label = element.closest('label');
    const near = (one: Element | null) =>
      one !== null && at !== null && (one.contains(at) || at.contains(one));
    // A control may be drawn by its label: a radio button's outline is its label's.
    const drawn = label === null ? [frame] : [frame, label];
    const style = (one: Element) => getComputedStyle(one);
    return {
      name: `${element.tagName} ${element.getAttribute('aria-label') ?? element.id} "${(element.textContent ?? '').slice(0, 30)}"`,
      inSight: right - left >= 4 && bottom - top >= 4 && (near(frame) || near(label)),
      outlined: drawn.some(
        (one) => style(one).outlineStyle !== 'none' && parseFloat(style(one).outlineWidth) >= 1,
      ),
    };
  });
}

const SEEN = 'seen';

function words(found: Stop | null): string {
  if (found === null) return 'nothing has the focus';
  if (!found.inSight) return `not in sight: ${found.name}`;
  return found.outlined ? SEEN : `not outlined: ${found.name}`;
}

/** Asserts that the focus is visible. */
export async function focusSeen(page: Page): Promise<void> {
  await expect.poll(async () => words(await stop(page))).toBe(SEEN);
}

/** Presses Tab or Shift+Tab until the element has the focus, and checks every stop on the way. */
export async function tabTo(
  page: Page,
  element: Locator,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  await expect(element).toBeVisible();
  for (let stops = 0; stops < MOST_STOPS; stops += 1) {
    if (await isFocused(element)) return;
    await page.keyboard.press(key);
    // After the last stop the focus is in the browser's own bar.
    const found = await stop(page);
    if (found !== null && words(found) !== SEEN) await focusSeen(page);
  }
  throw new Error(`${MOST_STOPS} times ${key} did not lead to ${String(element)}`);
}

function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((one) => {
    const root = one.getRootNode() as Document | ShadowRoot;
    return root.activeElement === one;
  });
}

/**
 * Presses keys without waiting for the page in between, as a fast typist does: a pause would end a
 * sequence of shortcuts or a name that is typed in the tree.
 */
export async function typeFast(page: Page, keys: string): Promise<void> {
  await Promise.all([...keys].map((key) => page.keyboard.press(key)));
}

/** Replaces the content of a field. */
export async function typeOver(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}
