// Figures and charts match what clients observe; the page advances the clock, only forward; the
// account page counts operations.
import type { Page } from '@playwright/test';
import { collection, container, DOORS, fillWith, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import type { Server } from '../lib/server';

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
/** Numbers of documents and their lifetimes; an expiry on the hour belongs to the hour before. */
const LIVES: [count: number, seconds: number][] = [
  [3, 30 * MINUTE],
  [5, 5 * HOUR],
  [4, 23 * HOUR + 1],
  [2, 10 * DAY],
  [1, 40 * DAY],
];

function figure(page: Page, name: string) {
  return page
    .locator('.figure')
    .filter({ has: page.getByRole('term').filter({ hasText: new RegExp(`^${name}$`) }) });
}

function chart(page: Page, title: RegExp) {
  return page.getByRole('figure', { name: title });
}

/** Returns the values of a chart's bars from their accessible names. */
async function bars(page: Page, title: RegExp): Promise<number[]> {
  const names = await chart(page, title)
    .locator('.chart-slot')
    .evaluateAll((found) => found.map((one) => one.ariaLabel ?? ''));
  return names.map((name) => Number(/: ([\d,]+) /.exec(name)?.[1]?.replace(',', '')));
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

for (const door of DOORS) {
  test(`${door.name}: charts and figures`, async ({ page, server }) => {
    const plural = `${door.noun}s`;
    await door.create(server, -1);
    for (const [count, ttl] of LIVES) {
      for (let at = 0; at < count; at += 1) await door.put(server, `${ttl}-${at}`, { ttl });
    }
    await door.put(server, 'endless', {});
    await page.goto(`/${door.name}/app/log/metrics`);
    await expect(figure(page, 'Live')).toContainText(`16 ${plural}`);
    await expect(figure(page, 'Expires within an hour')).toContainText(`3 ${plural}`);
    await expect(figure(page, 'Expires within a day')).toContainText(`12 ${plural}`);
    await expect(figure(page, 'Expires within a week')).toContainText(`12 ${plural}`);
    await expect(figure(page, 'Time to live')).toContainText('On (no default)');

    const [hours, days] = [/per hour/, /per day/];
    const step = (title: RegExp, name: string) => chart(page, title).getByRole('img', { name });
    await expect(step(hours, 'within 1 hour: 3 ')).toHaveCount(1);
    await expect(step(hours, 'in 4 to 5 hours: 5 ')).toHaveCount(1);
    await expect(step(hours, 'in 23 to 24 hours: 4 ')).toHaveCount(1);
    await expect(step(days, 'in 9 to 10 days: 2 ')).toHaveCount(1);
    expect(await bars(page, hours)).toHaveLength(24);
    expect(await bars(page, days)).toHaveLength(30);
    const [inHours, inDays] = [sum(await bars(page, hours)), sum(await bars(page, days))];
    // The table has the same numbers as the bars.
    await chart(page, hours).getByText('As a table').click();
    const cells = await chart(page, hours)
      .getByRole('row')
      .locator('td:nth-child(3)')
      .allInnerTexts();
    expect(cells.map(Number)).toEqual(await bars(page, hours));

    // The forecast comes true.
    const born = (await door.ids(server)).length;
    await server.advance(DAY);
    expect(born - (await door.ids(server)).length).toBe(inHours);
    await expect(figure(page, 'Live')).toContainText(`${born - inHours} ${plural}`);
    await server.advance(29 * DAY);
    expect(born - (await door.ids(server)).length).toBe(inDays);
    await expect(figure(page, 'Live')).toContainText(`${born - inDays} ${plural}`);
  });
}

async function clockOf(server: Server): Promise<number> {
  const { now } = await (await server.mongo()).db('admin').command({ ebbClock: 1 });
  return (now as Date).getTime();
}

/** Formats an instant for a datetime input: "2026-01-31T12:00:00". */
const typed = (ms: number) => new Date(ms).toISOString().slice(0, 19);

test('the clock moves by the page, and never back', async ({ page, server }) => {
  for (const door of DOORS) {
    await door.create(server, 300);
    for (const id of ['one', 'two']) await door.put(server, id, {});
  }
  await page.goto('/monitor');
  const start = await clockOf(server);
  const moves = page.getByRole('region', { name: 'Move the clock' });
  const moved = (ms: number) => expect.poll(async () => (await clockOf(server)) - start).toBe(ms);
  await expect(figure(page, 'Live').first()).toContainText('4 documents');
  await moves.getByRole('button', { name: '+1 min' }).hover();
  await expect(moves.getByRole('status')).toContainText('0 documents of both APIs expire by');
  await moves.getByRole('button', { name: '+1 h' }).hover();
  await expect(moves.getByRole('status')).toContainText('4 documents of both APIs expire by');
  await moves.getByRole('button', { name: '+1 min' }).click();
  await moved(60_000);
  const told = page.getByText('Clock advanced: 0 documents of both APIs expired.');
  await expect(told.first()).toBeVisible();
  await moves.getByLabel('Forward by').fill('1.5');
  await moves.getByLabel('Unit').selectOption('minutes');
  await moves.getByRole('button', { name: 'Advance' }).click();
  await moved(150_000);

  for (const [text, said] of [
    ['-5', /only moves forward/],
    ['0', /more than 0/],
    ['soon', /not a number/],
  ] as const) {
    await moves.getByLabel('Forward by').fill(text);
    await moves.getByRole('button', { name: 'Advance' }).click();
    await expect(moves.getByText(said)).toBeVisible();
  }
  await moves.getByLabel('Set to (UTC)').fill(typed(start - DAY * 1000));
  await moves.getByRole('button', { name: 'Set' }).click();
  await expect(moves.getByText(/The clock never goes back/)).toBeVisible();
  await moved(150_000);
  for (const door of DOORS) expect(await door.ids(server)).toHaveLength(2);

  const later = Math.floor(start / 1000) * 1000 + 400_000;
  await moves.getByLabel('Set to (UTC)').fill(typed(later));
  await moves.getByRole('button', { name: 'Set' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Move the clock' }).click();
  await moved(later - start);
  await expect(figure(page, 'Live').first()).toContainText('0 documents');
  for (const door of DOORS) expect(await door.ids(server)).toEqual([]);
});

test('an answer is shown although the clock was moved after its request', async ({
  page,
  server,
}) => {
  await mongo.create(server, 300);
  for (const id of ['one', 'two']) await mongo.put(server, id, {});
  let [asked, release] = [0, () => {}];
  const held = new Promise<void>((done) => (release = done));
  // The first answer is late, and the later ones do not come.
  await page.route(/\/_ebb\/expiry\/series\?/, async (route) => {
    asked += 1;
    if (asked > 2) return;
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await page.goto('/monitor');
  await expect.poll(() => asked).toBe(2);
  await server.advance(1);
  await expect.poll(() => asked).toBe(4);
  await expect(figure(page, 'Live')).toHaveCount(0);
  release();
  await expect(figure(page, 'Live').first()).toContainText('2 documents');
});

test('what the doors do is counted', async ({ page, server }) => {
  for (const door of DOORS) await door.create(server, null);
  await page.goto('/monitor');
  const total = async (name: string) => {
    const line = page.getByRole('region', { name: 'Counters' }).getByRole('row');
    const cells = line
      .filter({ has: page.getByRole('rowheader', { name, exact: true }) })
      .getByRole('cell');
    return Number((await cells.last().innerText()).replaceAll(',', ''));
  };
  await expect.poll(() => total('MongoDB inserts')).toBeGreaterThanOrEqual(0);
  const [inserts, requests] = [await total('MongoDB inserts'), await total('NoSQL requests')];
  const log = await collection(server);
  for (let at = 0; at < 7; at += 1) await log.insertOne({ _id: `n${at}` });
  for (let at = 0; at < 5; at += 1) await container(server).items.create({ id: `n${at}` });
  await expect.poll(() => total('MongoDB inserts')).toBe(inserts + 7);
  await expect.poll(() => total('NoSQL requests')).toBeGreaterThanOrEqual(requests + 5);

  await page.getByLabel('Latencies of').selectOption('since server start');
  const latencies = page.getByRole('region', { name: 'Latencies' }).getByRole('row');
  const insert = latencies.filter({
    has: page.getByRole('rowheader', { name: 'insert', exact: true }),
  });
  await expect(insert).toContainText('mongo');
  await expect(insert.getByRole('cell').nth(2)).toHaveText('7');
  await expect(insert.getByRole('cell').last()).toHaveText(/\d (µs|ms|s)$/);
});

test('what a collection takes, and what runs on it now', async ({ page, server }) => {
  await mongo.create(server, null);
  await fillWith(server, mongo, 20);
  const log = await collection(server);
  await log.createIndex({ n: 1 });
  await page.goto('/mongo/app/log/metrics');
  await expect(figure(page, 'On disk')).toContainText(/\d (bytes|KB)/);
  await expect(figure(page, 'Indexes')).toContainText('2 indexes');
  await expect(figure(page, 'Average document size')).toContainText(/[1-9]\d* bytes/);
  await expect(figure(page, 'Open cursors')).toContainText('0');
  await expect(figure(page, 'Running operations')).toContainText('0');

  const cursor = log.find({}, { batchSize: 2 });
  await cursor.next();
  await expect(figure(page, 'Open cursors')).toContainText('1 idle');
  const digits = { $range: [0, 30_000] };
  const steps = [{ $project: { a: digits, b: digits } }, { $unwind: '$a' }, { $unwind: '$b' }];
  const group = { $group: { _id: { $mod: [{ $multiply: ['$a', '$b'] }, 7] } } };
  const options = { comment: 'long', maxTimeMS: 900_000 };
  const ended = log
    .aggregate([...steps, group], options)
    .toArray()
    .catch((error: Error) => error);
  const running = page.getByRole('region', { name: 'Running operations' });
  await expect(running.getByRole('row')).toHaveCount(2);
  await expect(figure(page, 'Running operations')).toContainText('1');
  await expect(running).toContainText('{ $unwind: "$a" }');
  await innocent(page, 'what runs on a collection');
  const admin = (await server.mongo()).db('admin');
  const { inprog } = await admin.command({ currentOp: 1, 'command.comment': 'long' });
  for (const { opid } of inprog as { opid: number }[]) await admin.command({ killOp: 1, op: opid });
  expect(await ended).toBeInstanceOf(Error);
  await cursor.close();
  await expect(running).toHaveCount(0);
  await expect(figure(page, 'Open cursors')).toContainText('0 idle');
});

test('what a container takes', async ({ page, server }) => {
  await nosql.create(server, null);
  await fillWith(server, nosql, 20);
  await page.goto('/nosql/app/log/metrics');
  await expect(figure(page, 'On disk')).toContainText(/[1-9]\d*(\.\d)? KB/);
  await expect(figure(page, 'Running operations')).toHaveCount(0);
});
