// Benchmarks, separate from the tests; see docs/performance.md.
import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

// Uncapped frame rate: at the screen's rate no frame is shorter than 16.7 ms.
const launch = tests.use?.launchOptions;
const args = [...(launch?.args ?? []), '--disable-frame-rate-limit', '--disable-gpu-vsync'];

export default defineConfig({
  ...tests,
  use: { ...tests.use, launchOptions: { ...launch, args } },
  testDir: 'bench',
  testMatch: '*.bench.ts',
  workers: 1,
  fullyParallel: false,
  timeout: 600_000,
});
