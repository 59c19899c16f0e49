// Size budget, gzipped: 600 KiB for the whole portal, 150 for the home page.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';

const BUDGET_BYTES = 600 * 1024;
const FIRST_PAGE_BYTES = 150 * 1024;

const dist = () => process.env.EBB_PORTAL_DIST ?? '';
const gzipped = (file: string) => gzipSync(readFileSync(file), { level: 9 }).length;

test('the whole portal stays within its budget', () => {
  const files = readdirSync(dist(), { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => ({ name: file.name, bytes: gzipped(join(file.parentPath, file.name)) }));
  expect(sizes.map((file) => file.name)).toContain('index.html');
  const total = sizes.reduce((sum, file) => sum + file.bytes, 0);
  console.log(`the portal is ${total} bytes gzipped, in ${sizes.length} files`);
  expect(total).toBeLessThanOrEqual(BUDGET_BYTES);
});

/** Returns a file with its static imports. */
function withImports(name: string, known: Set<string>): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  if (!/\.(html|js)$/.test(name)) return known;
  const text = readFileSync(join(dist(), name), 'utf8');
  const needed = name.endsWith('.html')
    ? [...text.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file ?? '')
    : [...text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, file]) => `assets/${file}`);
  for (const file of needed) withImports(file, known);
  return known;
}

test('the front page stays within its budget', () => {
  const assets = readdirSync(join(dist(), 'assets'));
  const home = assets.filter((name) => /^pages-.*\.js$/.test(name));
  const font = assets.filter((name) => /^inter-latin-(?!1-).*\.woff2$/.test(name));
  expect([home.length, font.length]).toEqual([1, 1]);
  const first = withImports('index.html', new Set());
  for (const name of [...home, ...font]) withImports(`assets/${name}`, first);
  expect([...first].some((name) => name.startsWith('assets/codemirror'))).toBe(false);
  const total = [...first].reduce((sum, name) => sum + gzipped(join(dist(), name)), 0);
  console.log(`the front page is ${total} bytes gzipped: ${[...first].sort().join(', ')}`);
  expect(total).toBeLessThanOrEqual(FIRST_PAGE_BYTES);
});
