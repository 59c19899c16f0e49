// Fixtures of every test: a server of its own, and a page that fails the test on a violated content
// security policy, a script error, or an unexpected dialog.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserContext, test as base, expect } from '@playwright/test';
import { type Options, Server } from './server';

interface Fixtures {
  options: Options;
  server: Server;
  /** Console errors that the test expects. */
  expected: RegExp[];
}

const API = /^\/(_portal|_ebb|_explorer|metrics$|status$|livez$|readyz$)/;

/** EBB_PORTAL_PAGES names a build folder to serve instead of the binary's pages. */
async function replacePages(context: BrowserContext): Promise<void> {
  const folder = process.env.EBB_PORTAL_PAGES;
  if (folder === undefined) return;
  await context.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (API.test(pathname)) return route.continue();
    const file = join(folder, pathname);
    const found = pathname !== '/' && existsSync(file);
    const headers = { 'content-security-policy': "default-src 'self'; img-src 'self' data:" };
    return route.fulfill({ path: found ? file : join(folder, 'index.html'), headers });
  });
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
  context: async ({ context }, use) => {
    await replacePages(context);
    await use(context);
  },
  page: async ({ page, expected }, use) => {
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(`threw: ${error.message}`));
    page.on('console', (message) => {
      const text = message.text();
      // The browser logs every failed request; the portal reports those itself.
      if (message.type() !== 'error' || /Failed to load resource/.test(text)) return;
      wrong.push(`console: ${text}`);
    });
    await use(page);
    expect(wrong.filter((text) => !expected.some((known) => known.test(text)))).toEqual([]);
  },
});

export { expect };
