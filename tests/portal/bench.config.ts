// Measures instead of testing; see docs/performance.md. Nothing here runs with the tests.
import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

export default defineConfig({
  ...tests,
  testDir: 'bench',
  testMatch: '*.bench.ts',
  workers: 1,
  fullyParallel: false,
  timeout: 600_000,
});
