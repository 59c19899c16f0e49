// Latencies of operations that have not run while this page was open, from the server's samples of
// the last day. These have no p95. Pure.
import type { FiguresSample } from '../../api/admin';
import type { Latencies, OperationRow } from './readings';

/** `until`: end of the server's sample; null: measured by this page, or not at all. */
export type DatedRow = OperationRow & { until: number | null };

interface Earlier extends Latencies {
  until: number;
}

/** Returns the newest sample of each command and route. */
function newest(samples: readonly FiguresSample[]): Map<string, Earlier> {
  const found = new Map<string, Earlier>();
  for (const { at_ms, operations } of samples) {
    for (const { api, name, p50_us, p99_us } of operations)
      found.set(`${api} ${name}`, {
        p50: p50_us / 1e6,
        p95: null,
        p99: p99_us / 1e6,
        until: at_ms,
      });
  }
  return found;
}

export function withEarlier(
  rows: readonly OperationRow[],
  samples: readonly FiguresSample[],
): DatedRow[] {
  const known = newest(samples);
  return rows.map((row) => {
    const earlier = row.p50 === null ? known.get(`${row.protocol} ${row.name}`) : undefined;
    return { ...row, until: null, ...earlier };
  });
}
