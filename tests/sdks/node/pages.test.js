// Random cases of queries whose pages are each read by a new iterator; see ../pages.py.
'use strict';

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { test } = require('node:test');
const { setup, query, clock } = require('./setup.js');

const cases = JSON.parse(readFileSync(process.env.EBB_PAGES, 'utf8'));
const at = setup();

/** A container with the items of a case. */
async function fill({ items, compositeIndex }) {
  const indexingPolicy = {
    includedPaths: [{ path: '/*' }],
    compositeIndexes: compositeIndex ? [compositeIndex] : [],
  };
  const container = await at.make({ defaultTtl: -1, indexingPolicy });
  for (const item of items) await container.items.create(item);
  return container;
}

for (const one of cases) {
  test(`random pages: ${one.name}`, async () => {
    const container = await fill(one);
    const within = one.partitionKey === null ? {} : { partitionKey: one.partitionKey };
    const whole = () => query(container, one.query, {}, within);
    const pages = async (movesAfter = 0) => {
      const found = [];
      let continuationToken;
      do {
        const options = { ...within, maxItemCount: one.pageSize, continuationToken };
        const page = await container.items.query(one.query, options).fetchNext();
        const rows = page.resources ?? [];
        assert.ok(rows.length <= one.pageSize, 'the size of a page');
        found.push(rows);
        ({ continuationToken } = page);
        if (found.length === movesAfter) await clock.advance(one.diesAfter);
      } while (continuationToken !== undefined);
      return found;
    };
    assert.deepEqual((await pages()).flat(), await whole());
    const found = await pages(one.movesAfter);
    if (found.length < one.movesAfter) await clock.advance(one.diesAfter);
    const seen = found.flat();
    const live = await whole();
    const dead = new Set(one.mortal);
    assert.equal(new Set(seen).size, seen.length, 'none twice');
    const later = found.slice(one.movesAfter).flat();
    assert.deepEqual(
      [...later, ...live].filter((row) => dead.has(row)),
      [],
      'none that has expired',
    );
    if (!one.limited)
      assert.deepEqual(
        seen.filter((row) => !dead.has(row)),
        live,
        'none lost',
      );
    await container.delete();
  });
}
