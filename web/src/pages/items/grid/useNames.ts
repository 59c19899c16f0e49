// Shortens the visible ids in the middle so that they remain distinguishable.
import { useMemo } from 'react';
import { toldApart } from '../../../pure/columns/shorten';
import { type Row, type Source, shownOf } from '../source';

/** Width of a character of an id, and of its surroundings, px. */
const [LETTER, BESIDE] = [7.9, 46];
/** Other scripts may join letters or run right to left, so only ASCII is shortened. */
const CUTTABLE = /^[ -~]{9,}$/;

/** Returns the short name of each row by key; empty: the whole name fits. */
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
