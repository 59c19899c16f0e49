// Imports a million documents of JSON Lines through the portal and exports them again: duration,
// memory of browser and server, and long tasks of the page.
import { createWriteStream, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';

const DOCUMENTS = 1_000_000;

async function file(path: string, id: string): Promise<void> {
  const out = createWriteStream(path);
  for (let at = 0; at < DOCUMENTS; at += 1) {
    const name = String(at).padStart(7, '0');
    const text = `{"${id}":"n${name}","n":${at},"user":"user ${at % 1000}","tags":["a","b"],"note":"ninety bytes of text that is the same in every document"}\n`;
    if (!out.write(text)) await new Promise<void>((done) => out.once('drain', done));
  }
  await new Promise<void>((done) => out.end(() => done()));
}

/** Returns current and peak memory of a process in kilobytes. */
function memory(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return { now: of('VmRSS'), most: of('VmHWM') };
}

/** Records the maximum heap size and long tasks of the page from now on. */
async function watch(page: Page): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const seen = { heap: 0, tasks: 0, longest: 0 };
    Object.assign(window, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        seen.tasks += 1;
        seen.longest = Math.max(seen.longest, duration);
      }
    }).observe({ entryTypes: ['longtask'] });
    setInterval(() => {
      const { usedJSHeapSize } = (performance as unknown as { memory: { usedJSHeapSize: number } })
        .memory;
      seen.heap = Math.max(seen.heap, usedJSHeapSize);
    }, 100);
  });
  return async () => {
    const seen = await page.evaluate(
      () => (window as unknown as { seen: { heap: number; tasks: number; longest: number } }).seen,
    );
    const heap = Math.round(seen.heap / 1024 / 1024);
    return `heap at most ${heap} MB, ${seen.tasks} tasks over 50 ms, the longest ${Math.round(seen.longest)} ms`;
  };
}

test.setTimeout(1_600_000);

for (const door of ['mongo', 'nosql'] as const) {
  test(`a million documents, ${door}`, async ({ page, server }) => {
    if (door === 'nosql') await nosql.create(server, null);
    else await (await server.mongo()).db('app').createCollection('log');
    const path = join(process.env.EBB_PORTAL_OUT ?? '/tmp', `million-${door}.jsonl`);
    await file(path, door === 'mongo' ? '_id' : 'id');
    await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
    await page.goto(`/${door}/app/log/items`);
    const before = memory(server.pid).now;
    const seen = await watch(page);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const asked = page.waitForEvent('filechooser');
    await dialog.getByRole('button', { name: 'Choose a file' }).click();
    await (await asked).setFiles(path);
    await expect(dialog.getByRole('table')).toContainText('n0000004');
    const began = Date.now();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await expect(dialog).toContainText('Import finished.', { timeout: 1_500_000 });
    console.log(`${door}: imported in ${(Date.now() - began) / 1000} s; ${await seen()}`);
    await expect(dialog).toContainText('1,000,000 new');
    const { most } = memory(server.pid);
    console.log(`${door}: server's RSS from ${before >> 10} MB to at most ${most >> 10} MB`);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect(dialog).toHaveCount(0);

    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const saving = page.waitForEvent('download', { timeout: 1_500_000 });
    const started = Date.now();
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
    const saved = await (await saving).path();
    console.log(`${door}: exported in ${(Date.now() - started) / 1000} s; ${await seen()}`);
    if (door === 'mongo') expect(readFileSync(saved).equals(readFileSync(path))).toBe(true);
    else expect(readFileSync(saved).length).toBe(readFileSync(path).length);
    rmSync(path);
  });
}
