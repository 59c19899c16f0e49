// Import and export: lossless round trip, list of refused documents, cancellation.
import { readFileSync } from 'node:fs';
import type { Locator, Page } from '@playwright/test';
import { collection, DOORS, type Door, mongo, nosql } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import type { Server } from '../lib/server';

const MANY = 20_000;
const dialog = (page: Page) => page.getByRole('dialog');

/** Lines in the order of ids, in each API's format. */
function manyLines(door: Door): string[] {
  return Array.from({ length: MANY }, (_, at) => {
    const id = `"n${String(at).padStart(6, '0')}"`;
    const rest = `"n":${at},"x":${at}.5,"user":{"name":"ada ü","tags":["a",null,true]}`;
    return door.name === 'mongo'
      ? `{"_id":${id},${rest},"at":{"$date":"2026-01-31T12:00:00Z"}}`
      : `{"id":${id},${rest}}`;
  });
}

async function open(page: Page, server: Server, door: Door): Promise<void> {
  await door.create(server, null);
  await page.goto(`/${door.name}/app/log/items`);
}

/** Chooses a file with this text for import. */
async function choose(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const asked = page.waitForEvent('filechooser');
  await dialog(page).getByRole('button', { name: 'Choose a file' }).click();
  await (await asked).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}

async function begin(page: Page): Promise<void> {
  await dialog(page).getByRole('button', { name: 'Import', exact: true }).click();
}

async function ended(page: Page, said: string): Promise<void> {
  await expect(dialog(page).getByRole('status')).toContainText('Import finished.');
  await expect(dialog(page)).toContainText(said);
}

async function close(page: Page): Promise<void> {
  await dialog(page).getByRole('button', { name: 'Close' }).click();
  await expect(dialog(page)).toHaveCount(0);
}

/** Exports, and returns the saved text. */
async function exported(page: Page, prepare: (dialog: Locator) => Promise<void>): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await prepare(dialog(page));
  const saved = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Export', exact: true }).click();
  const text = readFileSync(await (await saved).path(), 'utf8');
  await expect(dialog(page).getByRole('status')).toContainText('Saved as log.');
  await close(page);
  return text;
}

test.beforeEach(async ({ page }) => {
  // A system dialog cannot be automated; use the download instead.
  await page.addInitScript(() => Reflect.deleteProperty(window, 'showSaveFilePicker'));
});

for (const door of DOORS) {
  test(`what is exported is what was imported, ${door.name}`, async ({ page, server }) => {
    await open(page, server, door);
    const lines = manyLines(door);
    await choose(page, 'many.jsonl', `${lines.join('\n')}\n`);
    await expect(dialog(page).getByRole('table')).toContainText('n000004');
    await expect(dialog(page).getByRole('table')).not.toContainText('n000005');
    expect(await door.ids(server)).toEqual([]);
    await begin(page);
    await ended(page, '20,000 new');
    await close(page);
    await expect(page.getByText(/20,000 live/)).toBeVisible();
    expect(await door.ids(server)).toHaveLength(MANY);
    const text = await exported(page, async () => undefined);
    expect(text.endsWith('}\n')).toBe(true);
    const found = text.split('\n').slice(0, -1);
    expect(found.length).toBe(MANY);
    expect(found.sort().join('\n')).toBe(lines.join('\n'));
  });

  test(`ids that are there are refused, left out or replaced, ${door.name}`, async ({
    page,
    server,
  }) => {
    await open(page, server, door);
    await door.put(server, 'two', { n: 2 });
    const id = door.name === 'mongo' ? '_id' : 'id';
    const text = `[\n{"${id}":"one","n":10},\n{"${id}":"two","n":20}\n]`;
    await choose(page, 'two.json', text);
    await begin(page);
    await ended(page, '1 new, 1 refused');
    const refused = dialog(page).getByRole('region', { name: 'Refused' }).getByRole('row').nth(1);
    await expect(refused).toHaveText(/^3\s*The id "two" already exists\.$/);
    expect(await door.get(server, 'two')).toEqual({ n: 2 });
    await close(page);

    await choose(page, 'two.json', text);
    await dialog(page).getByRole('radio', { name: /^Skip/ }).check();
    await begin(page);
    await ended(page, '0 new, 2 skipped');
    expect(await door.get(server, 'two')).toEqual({ n: 2 });
    await close(page);

    await choose(page, 'two.json', text);
    await dialog(page)
      .getByRole('radio', { name: /^Overwrite/ })
      .check();
    await begin(page);
    await ended(page, '0 new, 2 replaced');
    expect(await door.get(server, 'two')).toEqual({ n: 20 });
  });

  test(`CSV with types of a person's choice, there and back, ${door.name}`, async ({
    page,
    server,
  }) => {
    await open(page, server, door);
    const id = door.name === 'mongo' ? '_id' : 'id';
    const text = `${id};zip;n;address.city;on\r\na;"01234";5;Rome;true\r\nb;20095;;"=1+1";false\r\n`;
    await choose(page, 'data.csv', text);
    const types = dialog(page).getByRole('combobox', { name: /^Type of column/ });
    await expect(types).toHaveCount(5);
    await expect(types.nth(1)).toHaveValue('text');
    await expect(types.nth(2)).toHaveValue('number');
    await types.nth(2).selectOption('text');
    await types.nth(4).selectOption('text');
    await dialog(page).getByRole('textbox', { name: 'Field of column 5' }).fill('state');
    await begin(page);
    await ended(page, '2 new');
    await close(page);
    expect(await door.get(server, 'a')).toEqual({
      zip: '01234',
      n: '5',
      address: { city: 'Rome' },
      state: 'true',
    });
    const b = { zip: '20095', address: { city: '=1+1' }, state: 'false' };
    expect(await door.get(server, 'b')).toEqual(b);

    const csv = await exported(page, async (form) => {
      await form.getByRole('radio', { name: /^CSV/ }).check();
      await expect(form.getByRole('textbox', { name: 'Columns' })).toHaveValue(
        `${id}\nzip\naddress.city\nstate\nn`,
      );
    });
    expect(csv.split('\r\n')[0]).toBe(`${id},zip,address.city,state,n`);
    expect(csv).toContain('"b","20095","\'=1+1","false",');
    for (const one of ['a', 'b']) await door.put(server, one, { gone: 1 });
    await choose(page, 'again.csv', csv);
    await dialog(page)
      .getByRole('radio', { name: /^Overwrite/ })
      .check();
    await begin(page);
    await ended(page, '2 replaced');
    await close(page);
    expect(await door.get(server, 'b')).toEqual(b);
    const array = await exported(page, async (form) => {
      await form.getByRole('radio', { name: /^JSON: an array/ }).check();
    });
    const found = JSON.parse(array) as Record<string, unknown>[];
    expect(found).toContainEqual({ [id]: 'b', ...b });
    expect(found).toHaveLength(2);
  });
}

test('what a file has is read before the import without the words of types', async ({
  page,
  server,
}) => {
  await open(page, server, mongo);
  const numbers = '"d":{"$numberDecimal":"471.450"},"l":{"$numberLong":"9007199254740993"}';
  await choose(page, 'log.jsonl', `{"_id":"one",${numbers}}\n`);
  const first = dialog(page).getByRole('region', { name: 'First documents' });
  await expect(first.getByRole('cell')).toHaveText(['one', '471.450', '9007199254740993']);
  await expect(first.getByRole('columnheader')).toHaveText(['_idstring', 'ddecimal', 'llong']);
  await expect(first.getByTitle('NumberDecimal("471.450")')).toBeVisible();
});

test('every refusal names its line and its reason', async ({ page, server }) => {
  await nosql.create(server, 100);
  await page.goto('/nosql/app/log/items');
  const lines = ['{"id":"one"}', '{"id":1}', '{"id":', '', '{"id":"two","ttl":0}', '{"n":5}'];
  await choose(page, 'wrong.jsonl', lines.join('\n'));
  await expect(dialog(page)).toContainText('Line 3, character');
  await begin(page);
  await ended(page, '2 new, 3 refused');
  const toast = page.locator('.toast').filter({ hasText: 'Imported 2 of 5 items; 3 refused' });
  await expect(toast.locator('.toast-warns')).toBeVisible();
  const table = dialog(page).getByRole('region', { name: 'Refused' }).getByRole('table');
  await expect(table.getByRole('rowheader')).toHaveText(['2', '3', '5']);
  const saved = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Download the reasons' }).click();
  const list = readFileSync(await (await saved).path(), 'utf8').split('\n');
  expect(list).toHaveLength(5);
  expect(list[0]).toBe('line\treason');
  expect(list.find((line) => line.startsWith('5\t'))).toMatch(/ttl/i);
  const again = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Download refused rows' }).click();
  // As in the file: once corrected, they can be imported again.
  expect(readFileSync(await (await again).path(), 'utf8')).toBe(
    '{"id":1}\n{"id":\n{"id":"two","ttl":0}\n',
  );
  // An item without id gets one.
  expect(await nosql.ids(server)).toHaveLength(2);
});

test('types of Extended JSON come back exactly', async ({ page, server }) => {
  await open(page, server, mongo);
  const line =
    '{"_id":{"$oid":"65f0c0ffee0123456789abcd"},"i":{"$numberInt":"1"},"l":{"$numberLong":"9007199254740993"},' +
    '"d":{"$numberDouble":"1.0"},"m":{"$numberDecimal":"1.50"},"b":{"$binary":{"base64":"AQI=","subType":"00"}},' +
    '"t":{"$date":{"$numberLong":"-1"}},"r":{"$regularExpression":{"pattern":"a","options":"i"}}}';
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog(page).getByRole('textbox', { name: 'Or paste documents' }).fill(line);
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page).getByRole('table')).toContainText('decimal');
  await begin(page);
  await ended(page, '1 new');
  await close(page);
  const text = await exported(page, async (form) => {
    await form.getByRole('checkbox', { name: /canonical/ }).check();
  });
  expect(text).toBe(`${line}\n`);
});

test('a file that is dropped on the list, and what fits a filter', async ({ page, server }) => {
  await open(page, server, mongo);
  await expect(page.getByRole('grid')).toBeVisible();
  await page.evaluate(() => {
    const file = new File(['{"_id":1,"u":"a"}\n{"_id":2,"u":"b"}\n'], 'x.jsonl');
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(file);
    const grid = document.querySelector('[role=grid]');
    for (const kind of ['dragover', 'drop']) {
      grid?.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
    }
  });
  await expect(dialog(page)).toContainText('x.jsonl');
  await begin(page);
  await ended(page, '2 new');
  await close(page);
  await page.goto(`/mongo/app/log/items?filter=${encodeURIComponent('{ u: "b" }')}`);
  await expect(page.getByText('1 document matches')).toBeVisible();
  expect(await exported(page, async () => undefined)).toBe('{"_id":2,"u":"b"}\n');
});

test('an import that is stopped keeps what was written', async ({ page, server }) => {
  await open(page, server, nosql);
  let sent = 0;
  let giveOne = () => {};
  const held = new Promise<void>((done) => {
    giveOne = done;
  });
  await page.route('**/colls/log/docs', async (route) => {
    if (route.request().headers()['x-ms-cosmos-is-batch-request'] === undefined) {
      return route.fallback();
    }
    sent += 1;
    if (sent > 3) await held;
    return route.fallback();
  });
  const lines = Array.from({ length: 5000 }, (_, at) => `{"id":"n${at}"}`);
  await choose(page, 'many.jsonl', lines.join('\n'));
  await begin(page);
  await expect(dialog(page)).toContainText('300 new');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Stop' }).click();
  giveOne();
  await expect(dialog(page).getByRole('status')).toContainText(
    'Stopped. Imported documents are kept.',
  );
  const written = (await nosql.ids(server)).length;
  expect(written).toBeGreaterThanOrEqual(300);
  expect(written).toBeLessThan(5000);
  await expect(dialog(page)).toContainText(`${written.toLocaleString('en')} new`);
});

test('a file that the browser writes itself', async ({ page, server }) => {
  await open(page, server, mongo);
  await (await collection(server)).insertMany([{ _id: 'a' }, { _id: 'b' }]);
  await page.evaluate(() => {
    const texts: string[] = [];
    const file = {
      write: async (text: string) => void texts.push(text),
      close: async () => void Object.assign(window, { saved: texts.join('') }),
      abort: async () => undefined,
    };
    const handle = { name: 'mine.jsonl', createWritable: async () => file };
    Object.assign(window, { showSaveFilePicker: async () => handle });
  });
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await dialog(page).getByRole('button', { name: 'Export', exact: true }).click();
  await expect(dialog(page).getByRole('status')).toHaveText('Saved as mine.jsonl.');
  const saved = await page.evaluate(() => (window as unknown as { saved: string }).saved);
  expect(saved).toBe('{"_id":"a"}\n{"_id":"b"}\n');
});

test('what CSV has wrong names its field', async ({ page, server }) => {
  await nosql.create(server, null);
  await page.goto('/nosql/app/log/items');
  await choose(page, 'ages.csv', 'id,age\na,1\nb,2\nc,abc\n');
  await dialog(page).getByRole('combobox', { name: 'Type of column 2' }).selectOption('number');
  await expect(dialog(page)).toContainText('Line 4, field age: "abc" is not a number');
  await begin(page);
  await ended(page, '2 new, 1 refused');
  const table = dialog(page).getByRole('region', { name: 'Refused' }).getByRole('table');
  await expect(table).toContainText('Field age: "abc" is not a number');
  const saved = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Download refused rows' }).click();
  expect(readFileSync(await (await saved).path(), 'utf8')).toBe('id,age\r\nc,abc\r\n');
});
