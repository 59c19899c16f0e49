// Uses Debian's chromium; Playwright downloads none. Output goes to EBB_PORTAL_OUT.
import { defineConfig } from '@playwright/test';

const out = process.env.EBB_PORTAL_OUT ?? '/tmp/ebb-portal-tests';

export default defineConfig({
  testDir: 'specs',
  outputDir: `${out}/results`,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // Limits end tests that hang. On a busy machine an action may take minutes.
  timeout: 1_800_000,
  expect: { timeout: 300_000 },
  reporter: [['list']],
  use: {
    headless: true,
    viewport: { width: 1280, height: 800 },
    actionTimeout: 300_000,
    trace: 'off',
    launchOptions: {
      executablePath: process.env.EBB_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
