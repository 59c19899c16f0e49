// What every test has: a server of its own, and a page that fails the test when the browser refuses
// something by policy, when a script throws, or when a dialog opens that nobody expects.
import { expect, test as base } from '@playwright/test';
import { type Options, Server } from './server';

interface Fixtures {
  options: Options;
  server: Server;
  /** Complaints that a test provokes on purpose. */
  expected: RegExp[];
}

export const test = base.extend<Fixtures>({
  options: [{}, { option: true }],
  expected: [[], { option: true }],
  server: async ({ options }, use) => {
    const server = await Server.start(options);
    await use(server);
    await server.stop();
  },
  baseURL: async ({ server }, use) => use(server.url),
  page: async ({ page, expected }, use) => {
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(`threw: ${error.message}`));
    page.on('console', (message) => {
      const text = message.text();
      // The browser notes every refused request; the portal shows those itself.
      if (message.type() !== 'error' || /Failed to load resource/.test(text)) return;
      wrong.push(`console: ${text}`);
    });
    await use(page);
    expect(wrong.filter((text) => !expected.some((known) => known.test(text)))).toEqual([]);
  },
});

export { expect };
