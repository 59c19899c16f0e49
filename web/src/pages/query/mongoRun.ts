// Runs a find or pipeline of the MongoDB API: the batches of its cursor, and its explain.
import { type Batch, close, type Document, more, open, run } from '../../api/mongo';
import { printShell } from '../../pure/shell';
import type { Target } from '../../state/place';
import { databaseNow } from '../../state/server';
import { commandOf, firstPage, type MongoForm, PAGE_ROWS, writes } from './command';
import { mongoExplanation } from './explain/mongoExplain';
import { keepsIds, MONGO_FORM, type Results } from './results/form';
import type { ResultPage, Run } from './run';
import { mongoStatistics, type Statistic } from './statistics';

const STOP_MS = 5000;

export function textOf(documents: readonly Document[]): string {
  return documents.length === 0 ? '[]' : printShell(documents, 2);
}

function resultsOf(documents: readonly Document[], hasIds: boolean): Results {
  const keys = documents.map((document) =>
    hasIds && Object.hasOwn(document, '_id') ? printShell(document._id, 0) : null,
  );
  return { form: MONGO_FORM, rows: documents, plain: documents, keys };
}

/** Kills an operation on the server, which otherwise continues without a reader. */
async function stop(comment: string): Promise<void> {
  const aside = { aside: true, timeoutMs: STOP_MS };
  try {
    const found = await run('admin', { currentOp: 1, 'command.comment': comment }, aside);
    for (const { opid } of found.inprog as Document[])
      await run('admin', { killOp: 1, op: opid }, aside);
  } catch {
    // It has ended, or this user may not kill it.
  }
}

/** Runs the command again with explain. */
function explained(database: string, command: Document, signal: AbortSignal): Promise<Document> {
  return run(database, { explain: command, verbosity: 'executionStats' }, { signal });
}

const WRITES = 'not run: it would repeat the writes';

export function startMongo(target: Target, form: MongoForm): Run {
  const { database, collection } = target;
  const command = commandOf(collection, form);
  const hasIds = keepsIds(command);
  const trips: number[] = [];
  let cursor: unknown = null;
  let answer: Promise<Document> | null = null;
  const over = new AbortController();
  const end = () => {
    over.abort();
    void close(cursor);
    cursor = null;
  };
  const page = async (signal: AbortSignal, rows: number): Promise<Batch> => {
    if (trips.length === 0) {
      const comment = `ebb-portal ${crypto.randomUUID()}`;
      signal.addEventListener('abort', () => void stop(comment));
      return open(database, { ...firstPage(command, rows), comment }, { signal });
    }
    // A failed or cancelled page also closes the cursor.
    const at = cursor;
    cursor = null;
    if (at === null)
      throw new Error('The cursor no longer exists on the server. Execute the query again.');
    return more(database, collection, at, rows, { signal });
  };
  const next = async (signal: AbortSignal, rows = PAGE_ROWS): Promise<ResultPage> => {
    const ranAtMs = databaseNow();
    const began = performance.now();
    const batch = await page(signal, rows);
    const roundTripMs = performance.now() - began;
    trips.push(roundTripMs);
    cursor = batch.cursor;
    if (over.signal.aborted) end();
    const { documents } = batch;
    const text = textOf(documents);
    const results = resultsOf(documents, hasIds);
    return { text, results, roundTripMs, ranAtMs, more: batch.cursor !== null };
  };
  const asked = async (): Promise<Document> => {
    answer ??= explained(database, command, over.signal);
    try {
      return await answer;
    } catch (error) {
      answer = null;
      throw error;
    }
  };
  const statistics = async (page: number): Promise<Statistic[]> => {
    const trip = trips[page] ?? 0;
    if (!writes(command)) return mongoStatistics(await asked(), trip);
    return [...mongoStatistics({}, trip).slice(0, 1), { name: 'Explain', value: WRITES }];
  };
  const explain = async () => {
    if (writes(command)) throw new Error(`Explain was ${WRITES}.`);
    return mongoExplanation(database, await asked());
  };
  return { next, statistics, explain, explainsFreely: false, end };
}
