// Asks the server for its slow operations.
import { send } from '../../../api/http';
import type { SlowOperation } from './queryOf';

export interface SlowOperations {
  /** null: nothing counts as slow. */
  threshold_ms: number | null;
  operations: SlowOperation[];
}

const NOT_THERE = 404;

/** null: the server has no such list. */
export async function readSlow(): Promise<SlowOperations | null> {
  const answer = await send({ path: '/_ebb/slow', quiet: true, also: [NOT_THERE] });
  return answer.status === NOT_THERE ? null : (answer.json() as SlowOperations);
}
