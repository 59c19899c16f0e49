// Slow operations grouped by query, with links, of the whole server or of one collection.
import { useMemo, useState } from 'react';
import { count, counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { usePolled } from '../../../state/polled';
import { Failure } from '../../../ui/Failure';
import { doorOf, ofOthers, type SlowOperation } from './queryOf';
import { readSlow } from './read';
import { SHOWN, ShapeTable } from './ShapeTable';
import { shapesOf } from './shapes';

const REFRESH_MS = 5000;

function inWords(operations: number, shapes: number, limit: number): string {
  const long = `took ${count(limit)} ms or more`;
  if (operations === 0) return `No operation ${long} in the last day.`;
  const alike = operations > shapes ? ' Operations that differ only in values are grouped.' : '';
  const shown = shapes > SHOWN ? ` The ${SHOWN} groups with the longest total time are shown.` : '';
  return `${counted(operations, 'operation')} of the last day ${long}.${alike}${shown}`;
}

interface NotedProps {
  all: readonly SlowOperation[];
  limit: number;
  isNamed: boolean;
}

/** Operations of other clients, and optionally the portal's own, caused by viewing this page. */
function Noted({ all, limit, isNamed }: NotedProps) {
  const [isWhole, showWhole] = useState(false);
  const others = ofOthers(all);
  const own = all.length - others.length;
  const shapes = useMemo(() => shapesOf(isWhole ? all : ofOthers(all)), [all, isWhole]);
  return (
    <>
      <p className="hint">{inWords(isWhole ? all.length : others.length, shapes.length, limit)}</p>
      {own > 0 && (
        <label className="row">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={(event) => showWhole(event.currentTarget.checked)}
          />
          Include operations of the portal ({count(own)})
        </label>
      )}
      {shapes.length > 0 && <ShapeTable shapes={shapes} isNamed={isNamed} />}
    </>
  );
}

const NONE: readonly SlowOperation[] = [];

/** Returns the operations on a collection, or all. */
function useThose(all: readonly SlowOperation[], target: Target | null) {
  const { door, database, collection } = target ?? {};
  return useMemo(() => {
    if (door === undefined) return all;
    return all.filter(
      (one) => doorOf(one) === door && one.database === database && one.collection === collection,
    );
  }, [all, door, database, collection]);
}

export function SlowOperations({ target = null }: { target?: Target | null }) {
  const { value, failure, again } = usePolled(readSlow, REFRESH_MS);
  const those = useThose(value?.operations ?? NONE, target);
  // The server has no such list.
  if (value === null && failure === null) return null;
  return (
    <>
      <h2>Slow operations</h2>
      {failure !== null && <Failure error={failure} onAgain={again} />}
      {value !== null && value.threshold_ms === null && (
        <p className="hint">Recording of slow operations is off (--slow-ms off).</p>
      )}
      {value !== null && value.threshold_ms !== null && (
        <Noted all={those} limit={value.threshold_ms} isNamed={target === null} />
      )}
    </>
  );
}
