// Loads the slow operations.
import { send } from '../../../api/http';
import type { SlowOperation } from './queryOf';

export interface SlowOperations {
  /** null: slow operations are not recorded. */
  threshold_ms: number | null;
  operations: SlowOperation[];
}

const NOT_THERE = 404;

/** Returns the slow operations; null: the server has no such list. */
export async function readSlow(): Promise<SlowOperations | null> {
  const answer = await send({ path: '/_ebb/slow', quiet: true, also: [NOT_THERE] });
  return answer.status === NOT_THERE ? null : (answer.json() as SlowOperations);
}
