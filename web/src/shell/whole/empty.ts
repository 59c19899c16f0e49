// Deletes everything in a collection: one MongoDB command, or a container's items page by page.
import * as mongo from '../../api/mongo';
import { readContainer } from '../../api/nosql';
import { looked } from '../../pages/items/many/run';
import { NosqlSource } from '../../pages/items/nosqlSource';
import type { Cursor } from '../../pages/items/source';
import { count, counted } from '../../pure/figures/amount';
import { toast, warn } from '../../state/log';
import type { Target } from '../../state/place';
import { askAgain } from '../../state/server';

/** Practically no timeout. */
const MOST_MS = 6 * 3600_000;

async function emptyMongo({ database, collection }: Target): Promise<void> {
  const command = { delete: collection, deletes: [{ q: {}, limit: 0 }] };
  const reply = await mongo.run(database, command, { timeoutMs: MOST_MS });
  toast({ text: `Deleted ${counted(mongo.numberOf(reply.n), 'document')} of ${collection}` });
}

async function emptyNosql(
  target: Target,
  signal: AbortSignal,
  onDone: (done: number) => void,
): Promise<void> {
  const { database, collection } = target;
  const source = new NosqlSource(target, await readContainer(database, collection));
  let [done, failed, why] = [0, 0, ''];
  let cursor: Cursor | null = null;
  do {
    const page = await source.load({ filter: '', sort: null }, cursor, source.many.most, signal);
    cursor = page.cursor;
    const outcome = await source.many.apply(page.rows, { kind: 'delete' }, signal);
    done += looked(outcome) - outcome.failed.count;
    failed += outcome.failed.count;
    why ||= outcome.failed.why;
    onDone(done);
  } while (cursor !== null && !signal.aborted);
  const said = `Deleted ${counted(done, 'item')} of ${collection}`;
  if (failed > 0) warn(`${said}; ${count(failed)} could not be deleted: ${why}`);
  else if (cursor !== null) warn(`Stopped. ${said}`);
  else toast({ text: said });
}

/** Resolves when it is done or cancelled, and reports which. */
export async function empty(
  target: Target,
  signal: AbortSignal,
  onDone: (done: number) => void,
): Promise<void> {
  try {
    if (target.door === 'mongo') await emptyMongo(target);
    else await emptyNosql(target, signal, onDone);
  } catch (error) {
    if (!signal.aborted) throw error;
    warn(`Stopped. The rest of ${target.collection} was not deleted.`);
  } finally {
    askAgain();
  }
}
