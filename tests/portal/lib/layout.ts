// Positions and sizes of what a page shows.
import type { Page } from '@playwright/test';

/** Waits for the fonts of the shown texts: until they arrive, texts have the size of another font. */
export async function fontsReady(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
  });
}
