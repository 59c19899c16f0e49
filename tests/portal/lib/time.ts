// Time of a page under the control of a test, so that its outcome does not depend on the machine.
import { expect, type Page, type Request } from '@playwright/test';

/**
 * Stops the timers and clocks of the page. `page.clock.runFor` advances them, and
 * `page.clock.resume` starts them again. Requires `page.clock.install` before the page is loaded;
 * parts of the page that are loaded on demand do not appear while its time is stopped.
 */
export async function stopTime(page: Page): Promise<void> {
  // The instant must not have passed when the page, on a busy machine, gets the command.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
}

/** Waits for tasks that the page has queued; timers are not among them. */
function queued(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done();
        port2.postMessage(null);
      }),
  );
}

/**
 * Changes something, and checks that the page, which polls its figures every five or ten seconds,
 * reads them at once, and again when the server has updated its estimates.
 */
export async function readsAgain(page: Page, change: () => Promise<void>): Promise<void> {
  await stopTime(page);
  const polls: Request[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/expiry/series')) polls.push(request);
  });
  await change();
  await expect.poll(() => polls.length).toBeGreaterThan(0);
  await (await polls[0]?.response())?.finished();
  await queued(page);
  const before = polls.length;
  await page.clock.runFor(1500);
  await expect.poll(() => polls.length).toBeGreaterThan(before);
  await page.clock.resume();
}
