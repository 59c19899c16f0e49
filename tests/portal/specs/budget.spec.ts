// The whole portal fits into 600 KB, gzipped.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';

const BUDGET_BYTES = 600 * 1024;

test('the whole portal stays within its budget', () => {
  const dist = process.env.EBB_PORTAL_DIST ?? '';
  const files = readdirSync(dist, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => ({
      name: file.name,
      bytes: gzipSync(readFileSync(join(file.parentPath, file.name)), { level: 9 }).length,
    }));
  expect(sizes.map((file) => file.name)).toContain('index.html');
  const total = sizes.reduce((sum, file) => sum + file.bytes, 0);
  console.log(`the portal is ${total} bytes gzipped, in ${sizes.length} files`);
  expect(total).toBeLessThanOrEqual(BUDGET_BYTES);
});
