// Indexes of a collection are created, hidden and dropped, and the indexing policy of a container
// is edited as a form beside its text.
import type { Page, Route } from '@playwright/test';
import { BSON, type Document } from 'mongodb';
import { collection, container, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { innocent } from '../lib/innocent';
import { tabTo } from '../lib/keyboard';
import { noted, save } from '../lib/pane';
import type { Server } from '../lib/server';

const dialog = (page: Page) => page.getByRole('dialog');
const line = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });

/** The command that the page sent. */
const asked = (route: Route): Document =>
  BSON.deserialize(route.request().postDataBuffer() ?? BSON.serialize({}));
const reply = (answer: Document) => ({
  contentType: 'application/bson',
  body: Buffer.from(BSON.serialize(answer)),
});

/** An index build on app.log as listed by `currentOp`. */
function operation(name: string, done?: number, total?: number): Document {
  const command = { createIndexes: 'log', indexes: [{ key: { n: 1 }, name }], $db: 'app' };
  const progress = done === undefined ? {} : { progress: { done, total } };
  return { op: 'command', ns: 'app.log', command, msg: 'Index Build: …', ...progress };
}

/** Answers `currentOp` instead of the server: real builds are too fast. */
async function builds(page: Page): Promise<{ operations: Document[]; questions: number }> {
  const known = { operations: [] as Document[], questions: 0 };
  await page.route('**/_portal/api/mongo/admin', async (route) => {
    if (asked(route).currentOp === undefined) return route.fallback();
    known.questions += 1;
    await route.fulfill(reply({ inprog: known.operations, ok: 1 }));
  });
  return known;
}

async function indexOf(server: Server, name: string): Promise<Record<string, unknown> | undefined> {
  const found = (await (await collection(server)).indexes()) as Record<string, unknown>[];
  return found.find((index) => index.name === name);
}

test('an index is made, hidden, shown and dropped', async ({ page, server }) => {
  await mongo.create(server, 3600);
  for (const n of [1, 2, 2]) await mongo.put(server, `n${Math.random()}`, { n, city: 'Rome' });
  await page.goto('/mongo/app/log/settings?section=indexes');
  // The default TTL has its own section, and the index on the id cannot be dropped.
  for (const name of ['_id_', '_ts_1']) {
    await expect(line(page, name).getByRole('button', { name: `Drop ${name}` })).toBeDisabled();
    await expect(line(page, name).getByRole('button', { name: `Hide ${name}` })).toBeDisabled();
  }
  await page.getByRole('button', { name: 'New index' }).click();
  const create = dialog(page).getByRole('button', { name: 'Create index' });
  await expect(create).toBeDisabled();
  await dialog(page).getByRole('textbox', { name: 'Field 1' }).fill('n');
  await dialog(page).getByRole('button', { name: 'Add a field' }).click();
  await dialog(page).getByRole('textbox', { name: 'Field 2' }).fill('city');
  await dialog(page).getByRole('combobox', { name: 'Order of field 2' }).selectOption('descending');
  await dialog(page).getByRole('button', { name: 'Move field 2 up' }).click();
  await dialog(page).getByRole('textbox', { name: 'Partial filter' }).fill('{ n: ');
  await expect(dialog(page).getByRole('alert')).toContainText('At character');
  await expect(create).toBeDisabled();
  await dialog(page).getByRole('textbox', { name: 'Partial filter' }).fill('{ n: { $gt: 1 } }');
  await expect(dialog(page).getByRole('textbox', { name: 'Name' })).toHaveAttribute(
    'placeholder',
    'city_-1_n_1',
  );
  // Two documents have equal values: the server refuses, and the input is kept.
  await dialog(page)
    .getByRole('checkbox', { name: /^Unique/ })
    .check();
  await create.click();
  await expect(dialog(page).getByRole('alert')).toContainText('E11000');
  await dialog(page)
    .getByRole('checkbox', { name: /^Unique/ })
    .uncheck();
  await create.click();
  await noted(page, 'Successfully created index city_-1_n_1');
  expect(await indexOf(server, 'city_-1_n_1')).toMatchObject({
    key: { city: -1, n: 1 },
    partialFilterExpression: { n: { $gt: 1 } },
  });
  await page.getByRole('button', { name: 'Hide city_-1_n_1' }).click();
  await expect(line(page, 'city_-1_n_1')).toContainText('hidden');
  expect(await indexOf(server, 'city_-1_n_1')).toMatchObject({ hidden: true });
  await page.getByRole('button', { name: 'Show city_-1_n_1' }).click();
  await expect(page.getByRole('button', { name: 'Hide city_-1_n_1' })).toBeEnabled();
  expect(await indexOf(server, 'city_-1_n_1')).not.toHaveProperty('hidden', true);

  await page.getByRole('button', { name: 'Drop city_-1_n_1' }).click();
  await expect(dialog(page)).toContainText('Queries that use it will scan 3 documents instead,');
  await dialog(page).getByRole('button', { name: 'Cancel' }).click();
  expect(await indexOf(server, 'city_-1_n_1')).toBeDefined();
  await page.getByRole('button', { name: 'Drop city_-1_n_1' }).click();
  await dialog(page).getByRole('button', { name: 'Drop index' }).click();
  await noted(page, 'Successfully dropped index city_-1_n_1');
  await expect(line(page, 'city_-1_n_1')).toHaveCount(0);
  expect(await indexOf(server, 'city_-1_n_1')).toBeUndefined();
});

test('an index that makes documents expire, with the keyboard alone', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.goto('/mongo/app/log/settings?section=indexes');
  await tabTo(page, page.getByRole('button', { name: 'New index' }));
  await page.keyboard.press('Enter');
  await tabTo(page, dialog(page).getByRole('textbox', { name: 'Field 1' }));
  await page.keyboard.type('until');
  await tabTo(page, dialog(page).getByRole('checkbox', { name: /^Documents expire/ }));
  await page.keyboard.press('Space');
  await tabTo(page, dialog(page).locator('#indexSeconds'));
  await page.keyboard.type('60');
  await expect(dialog(page).getByRole('status')).toContainText('nothing expires immediately');
  await page.keyboard.press('Enter');
  await noted(page, 'Successfully created index until_1');
  expect(await indexOf(server, 'until_1')).toMatchObject({ expireAfterSeconds: 60 });
});

test('how often each index was used', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  await log.createIndex({ n: 1 });
  for (const n of [1, 2, 3]) await mongo.put(server, `n${n}`, { n });
  for (const n of [1, 2]) expect(await log.find({ n }).toArray()).toHaveLength(1);
  await page.goto('/mongo/app/log/settings?section=indexes');
  await expect(page.getByRole('columnheader', { name: 'Uses' })).toHaveCount(1);
  const uses = (name: string) => line(page, name).getByTitle(/^Since \d{4}-/);
  await expect(uses('n_1')).toHaveText('2');
  expect(await log.find({ n: 3 }).toArray()).toHaveLength(1);
  // A change reloads all indexes, including new ones.
  await page.getByRole('button', { name: 'New index' }).click();
  await dialog(page).getByRole('textbox', { name: 'Field 1' }).fill('city');
  await dialog(page).getByRole('button', { name: 'Create index' }).click();
  await expect(uses('city_1')).toHaveText('0');
  await expect(uses('n_1')).toHaveText('3');
});

test('how large the indexes are together', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.route('**/_portal/api/mongo/*', async (route) => {
    if (asked(route).collStats !== 'log') return route.continue();
    await route.fulfill(reply({ ok: 1, totalIndexSize: 73_400_320 }));
  });
  await page.goto('/mongo/app/log/settings?section=indexes');
  await expect(page.getByText('The indexes take 70 MB together.')).toBeVisible();
});

test('nobody who may not ask for the uses is troubled by them', async ({ page, server }) => {
  await mongo.create(server, null);
  await page.route('**/_portal/api/mongo/*', async (route) => {
    const { aggregate, currentOp } = asked(route);
    if (aggregate === undefined && currentOp === undefined) return route.continue();
    await route.fulfill(reply({ ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'no right' }));
  });
  await page.goto('/mongo/app/log/settings?section=indexes');
  await expect(line(page, '_id_')).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'Uses' })).toHaveCount(0);
  await expect(page.getByText('no right')).toHaveCount(0);
});

test('how far an index is that this page has made', async ({ page, server }) => {
  await mongo.create(server, null);
  const build = await builds(page);
  let create = () => {};
  const held = new Promise<void>((resolve) => {
    create = resolve;
  });
  await page.route('**/_portal/api/mongo/app', async (route) => {
    if (asked(route).createIndexes !== undefined) await held;
    await route.fallback();
  });
  await page.goto('/mongo/app/log/settings?section=indexes');
  await page.getByRole('button', { name: 'New index' }).click();
  await dialog(page).getByRole('textbox', { name: 'Field 1' }).fill('n');
  build.operations = [operation('n_1')];
  await dialog(page).getByRole('button', { name: 'Create index' }).click();
  const bar = dialog(page).getByRole('progressbar', { name: 'Build progress' });
  await expect(bar).not.toHaveAttribute('value');
  build.operations = [operation('n_1', 42, 100)];
  await expect(bar).toHaveAttribute('value', '42');
  await expect(dialog(page)).toContainText('42 %');
  await innocent(page, 'a build that is waited for');
  build.operations = [];
  create();
  await noted(page, 'Successfully created index n_1');
  await expect(dialog(page)).toHaveCount(0);
  await expect(line(page, 'n_1')).not.toContainText('Being built');
});

test('how far an index is that the server goes on with', async ({ page, server }) => {
  await mongo.create(server, null);
  const log = await collection(server);
  await log.createIndex({ n: 1 });
  const build = await builds(page);
  build.operations = [operation('n_1', 1, 3)];
  await page.goto('/mongo/app/log/settings?section=indexes');
  const bar = line(page, 'n_1').getByRole('progressbar', { name: 'Progress of n_1' });
  await expect(bar).toHaveAttribute('value', '33');
  await expect(line(page, 'n_1')).toContainText('Being built33 %');
  await innocent(page, 'a build');
  await expect(line(page, '_id_').getByRole('progressbar')).toHaveCount(0);
  // A build started elsewhere appears by polling.
  await log.createIndex({ city: 1 });
  build.operations = [operation('n_1', 2, 3), operation('city_1', 0, 3)];
  await expect(bar).toHaveAttribute('value', '66');
  await expect(line(page, 'city_1').getByRole('progressbar')).toHaveAttribute('value', '0');
  // When both have ended, polling stops.
  build.operations = [];
  await expect(page.getByRole('progressbar')).toHaveCount(0);
  await expect(line(page, 'city_1')).toBeVisible();
  const count = build.questions;
  await line(page, 'city_1').getByRole('button', { name: 'Hide city_1' }).click();
  await expect(line(page, 'city_1')).toContainText('hidden');
  expect(build.questions).toBe(count);
});

test('how far a date TTL index is', async ({ page, server }) => {
  await mongo.create(server, null);
  await (await collection(server)).createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  const build = await builds(page);
  build.operations = [operation('at_1', 1, 4)];
  await page.goto('/mongo/app/log/settings?section=date-indexes');
  const bar = line(page, 'at_1').getByRole('progressbar', { name: 'Progress of at_1' });
  await expect(bar).toHaveAttribute('value', '25');
  build.operations = [];
  await expect(bar).toHaveCount(0);
});

test('how far indexed paths of a container are', async ({ page, server }) => {
  await nosql.create(server, null);
  let progress = 40;
  await page.route('**/collections/log/indexes?*', async (route) => {
    const known = await (await route.fetch()).json();
    await route.fulfill({ json: { ...known, progress } });
  });
  await page.goto('/nosql/app/log/settings?section=indexing');
  const paths = page.getByRole('region', { name: 'Indexed paths' });
  const bar = paths.getByRole('progressbar', { name: 'Progress of indexed paths' });
  await expect(bar).toHaveAttribute('value', '40');
  progress = 99;
  await expect(bar).toHaveAttribute('value', '99');
  await expect(paths).toContainText('Being built: 99 %.');
  progress = 100;
  await expect(bar).toHaveCount(0);
  await expect(paths).not.toContainText('Being built:');
});

test('the indexing policy as a form', async ({ page, server }) => {
  await nosql.create(server, null);
  const policy = async () => (await container(server).read()).resource?.indexingPolicy;
  await page.goto('/nosql/app/log/settings?section=indexing');
  const form = page.getByRole('group', { name: 'Indexing policy as a form' });
  const text = page.getByRole('textbox', { name: /^Indexing policy/ });
  await form.getByRole('button', { name: 'Add excluded path' }).click();
  await expect(form).toContainText('Enter a path');
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  const path = form.getByRole('textbox', { name: 'Excluded path 2' });
  await path.fill('/note//x');
  await expect(form).toContainText('Each part is a name');
  await path.fill('/note/?');
  await expect(text).toContainText('"/note/?"');
  await form.getByRole('button', { name: 'Add a composite index' }).click();
  await form.getByRole('textbox', { name: 'Path 1 of composite index 1' }).fill('/user');
  await form.getByRole('textbox', { name: 'Path 2 of composite index 1' }).fill('/n');
  await form
    .getByRole('combobox', { name: 'Order of path 2 of composite index 1' })
    .selectOption('descending');
  await save(page, 'Successfully updated container log');
  expect(await policy()).toMatchObject({
    includedPaths: [{ path: '/*' }],
    excludedPaths: [{ path: '/"_etag"/?' }, { path: '/note/?' }],
    compositeIndexes: [
      [
        { path: '/user', order: 'ascending' },
        { path: '/n', order: 'descending' },
      ],
    ],
  });
  // Mode none has no paths.
  await form.getByRole('combobox', { name: 'Indexing mode' }).selectOption('none');
  await expect(form.getByRole('textbox')).toHaveCount(0);
  await save(page, 'Successfully updated container log');
  expect(await policy()).toMatchObject({
    indexingMode: 'none',
    automatic: false,
    includedPaths: [],
    excludedPaths: [],
  });
  await form.getByRole('combobox', { name: 'Indexing mode' }).selectOption('consistent');
  await expect(form.getByRole('textbox', { name: 'Included path 1' })).toHaveValue('/*');
});
