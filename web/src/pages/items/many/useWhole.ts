// Reads the whole values of rows that the server has cut, for the preview of a change.
import { useEffect, useMemo, useState } from 'react';
import type { Row, Source } from '../source';

/** Maximum number of rows that are read. */
const MOST = 100;

/**
 * Returns the rows with whole values. Cut rows are omitted until they have been read, and beyond
 * `MOST`; none is read unless `isNeeded`.
 */
export function useWhole(source: Source, rows: readonly Row[], isNeeded: boolean): readonly Row[] {
  const cut = useMemo(() => rows.filter(({ isCut }) => isCut === true).slice(0, MOST), [rows]);
  const [read, setRead] = useState<readonly Row[]>([]);
  useEffect(() => {
    if (!isNeeded || cut.length === 0) return;
    const turn = new AbortController();
    // Without them the preview is about the other rows.
    source.complete(cut, turn.signal).then(setRead, () => {});
    return () => turn.abort();
  }, [source, cut, isNeeded]);
  return useMemo(
    () => (cut.length === 0 ? rows : [...rows.filter(({ isCut }) => isCut !== true), ...read]),
    [rows, cut, read],
  );
}
