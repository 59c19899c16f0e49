// Reads the output of a stage: its first documents, and their number up to a limit. The caller must
// ensure that the pipeline does not write.
import type { Target } from '../../../state/place';
import { EMPTY } from '../command';
import { startMongo } from '../mongoRun';
import type { ResultPage } from '../run';

export const SHOWN = 5;
export const MOST_COUNTED = 10_000;

export interface Probed {
  page: ResultPage;
  /** null: above the counting limit. */
  count: number | null;
}

/** Runs a pipeline with further stages appended; returns its first page. */
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
