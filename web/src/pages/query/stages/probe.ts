// What is there after a stage: the first documents and how many there are, up to a bound. Runs only what
// it is given; that it writes nothing is the caller's to know.
import type { Target } from '../../../state/place';
import { EMPTY } from '../command';
import { startMongo } from '../mongoRun';
import type { ResultPage } from '../run';

export const SHOWN = 5;
export const MOST_COUNTED = 10_000;

export interface Probed {
  page: ResultPage;
  /** null: more than are counted. */
  count: number | null;
}

/** Runs a pipeline with further stages at its end; gives the first page of it. */
async function first(target: Target, text: string, more: string, signal: AbortSignal) {
  const stages = text === '[]' ? `[${more}]` : text.replace(/\s*\]$/, `, ${more}]`);
  const run = startMongo(target, { ...EMPTY, mode: 'pipeline', pipeline: stages });
  try {
    return await run.next(signal);
  } finally {
    run.end();
  }
}

export async function probe(target: Target, text: string, signal: AbortSignal): Promise<Probed> {
  const counting = `{ $limit: ${MOST_COUNTED + 1} }, { $count: "n" }`;
  const [page, counted] = await Promise.all([
    first(target, text, `{ $limit: ${SHOWN} }`, signal),
    first(target, text, counting, signal),
  ]);
  const [found] = counted.results.plain as { n?: unknown }[];
  const count = Number(found?.n ?? 0);
  return { page, count: count > MOST_COUNTED ? null : count };
}
