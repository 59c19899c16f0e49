// MongoDB dates outside JavaScript's range are kept to the millisecond, and Extended JSON is parsed
// with unquoted keys too.
import { Long } from 'mongodb';
import { collection, mongo } from '../lib/door';
import { expect, test } from '../lib/fixtures';
import { editor, openItem, row, saveItem, write } from '../lib/items';
import type { Server } from '../lib/server';

const MOST = '9223372036854775807';

/** Returns types and milliseconds of the stored dates. */
async function stored(server: Server) {
  const log = await collection(server);
  const facts = { type: { $type: '$at' }, ms: { $toLong: '$at' }, n: 1 };
  const found = log.aggregate([{ $project: facts }], { promoteLongs: false });
  return (await found.toArray()).map(({ type, ms, n }) => ({ type, ms: String(ms), n: Number(n) }));
}

for (const [what, typed, ms] of [
  ['canonical Extended JSON', `{ "$date": { "$numberLong": "${MOST}" } }`, MOST],
  ['keys without quotes', `{ $date: { $numberLong: "${MOST}" } }`, MOST],
  ['a text without quotes around its key', '{ $date: "1970-01-01T00:00:01Z" }', '1000'],
] as const) {
  test(`a date is typed as ${what}, and kept`, async ({ page, server }) => {
    await mongo.create(server, null);
    await page.goto('/mongo/app/log/items');
    await page.getByRole('button', { name: 'New document' }).first().click();
    const anew = page.getByRole('region', { name: 'New document' });
    await write(page, editor(anew), `{ _id: "one", n: 1, at: ${typed} }`);
    await saveItem(page, anew, 'created document "one"');
    expect(await stored(server)).toEqual([{ type: 'date', ms, n: 1 }]);
  });
}

test('another field is changed beside a date that JavaScript does not have', async ({
  page,
  server,
}) => {
  await mongo.create(server, null);
  await mongo.put(server, 'one', { n: 1 });
  const at = { $toDate: Long.fromString(MOST) };
  await (await collection(server)).updateOne({ _id: 'one' }, [{ $set: { at } }]);
  await page.goto('/mongo/app/log/items');
  const pane = await openItem(page, mongo, 'one');
  const text = `{ $date: { $numberLong: "${MOST}" } }`;
  await expect(editor(pane)).toContainText(text);
  await write(page, editor(pane), `{ _id: "one", n: 2, at: ${text} }`);
  await saveItem(page, pane, 'updated document "one"');
  expect(await stored(server)).toEqual([{ type: 'date', ms: MOST, n: 2 }]);
  // Editing a cell works too, although its condition contains the whole document.
  const cell = (column: string) => row(page, mongo, 'one').locator(`[data-column="${column}"]`);
  await pane.getByRole('button', { name: 'Close' }).click();
  await cell('n').dblclick();
  await page.keyboard.type('3');
  await page.keyboard.press('Enter');
  await expect(cell('n')).toHaveText('3');
  expect(await stored(server)).toEqual([{ type: 'date', ms: MOST, n: 3 }]);
  // The date itself is changed in the editor.
  await cell('at').dblclick();
  await expect(editor(pane)).toBeFocused();
});
