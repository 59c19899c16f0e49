// Ids in sight without their middles, so that they can be told apart.
import { useMemo } from 'react';
import { toldApart } from '../../../pure/columns/shorten';
import { type Row, type Source, shownOf } from '../source';

/** Of an id: px of a character, and of what stands beside it. */
const [LETTER, BESIDE] = [7.9, 46];
/** Scripts in which letters join or run the other way are not cut. */
const CUTTABLE = /^[ -~]{9,}$/;

/** The short name of each row, by its key; an empty one: the whole name fits. */
export function useNames(rows: readonly Row[], source: Source, width: number): Map<string, string> {
  return useMemo(() => {
    const most = Math.floor((width - BESIDE) / LETTER);
    const names = rows
      .map((row) =>
        row.name.startsWith('ObjectId') ? source.shown(shownOf(row)[source.idField]) : row.name,
      )
      .map((name) => (CUTTABLE.test(name) ? name : ''));
    const short = toldApart(
      names.filter((name) => name.length > most),
      most,
    );
    return new Map(rows.map(({ key }, at) => [key, short.get(names[at] ?? '') ?? '']));
  }, [rows, source, width]);
}
