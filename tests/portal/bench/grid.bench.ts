// Frame times while a grid of 100,000 rows scrolls from top to end, and the time to load them.
import { expect, test } from '../lib/fixtures';

const ROWS = 100_000;
const FRAMES = 300;

for (const door of ['nosql', 'mongo'] as const) {
  test(`100,000 rows, ${door}`, async ({ page, server }) => {
    if (door === 'mongo') {
      const collection = (await server.mongo()).db('app').collection('rows');
      await collection.createIndex({ _ts: 1 }, { expireAfterSeconds: 86_400 });
      for (let at = 0; at < ROWS; at += 10_000) {
        const made = Array.from({ length: 10_000 }, (_, n) => ({
          user: `user ${at + n}`,
          n: at + n,
        }));
        await collection.insertMany(made as never);
      }
    } else {
      const { database } = await server.cosmos.databases.create({ id: 'app' });
      const definition = { id: 'rows', partitionKey: { paths: ['/key'] }, defaultTtl: 86_400 };
      const { container } = await database.containers.create(definition);
      for (let at = 0; at < ROWS; at += 100) {
        const operations = Array.from({ length: 100 }, (_, n) => ({
          operationType: 'Create' as const,
          resourceBody: { id: `item ${at + n}`, key: `key ${at / 100}`, n: at + n },
        }));
        await container.items.batch(operations, `key ${at / 100}`);
      }
    }
    const began = Date.now();
    await page.goto(`/${door}/app/rows/items`);
    await page.getByRole('button', { name: 'Load all' }).click();
    await expect(
      page.getByText('100,000 items loaded').or(page.getByText('100,000 documents loaded')),
    ).toBeVisible({ timeout: 300_000 });
    console.log(`${door}: loaded in ${Date.now() - began} ms`);
    const frames = await page.evaluate(async (count) => {
      const box = document.querySelector<HTMLElement>('[role=grid]');
      if (box === null) return [];
      const took: number[] = [];
      let last = performance.now();
      for (let frame = 0; frame < count; frame += 1) {
        box.scrollTop = (box.scrollHeight - box.clientHeight) * (frame / (count - 1));
        const now = await new Promise<number>((done) => requestAnimationFrame(done));
        took.push(now - last);
        last = now;
      }
      return took.slice(1).sort((a, b) => a - b);
    }, FRAMES);
    const at = (part: number) => frames[Math.floor(frames.length * part)]?.toFixed(1);
    console.log(`${door}: frame median ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`);
    expect(frames.length).toBe(FRAMES - 1);
  });
}
