// The columns of a collection's grid: what its documents have, and what a person has chosen of that.
// The choice is kept in the browser.
import { useMemo } from 'react';
import { type Column, columnsOf } from '../../../pure/columns/columns';
import {
  changed,
  drawn,
  initialLayout,
  type Layout,
  layoutText,
  merged,
  moved,
  type Placed,
  readLayout,
} from '../../../pure/columns/layout';
import type { Target } from '../../../state/place';
import { usePreference } from '../../../state/preference';
import type { Row, Source } from '../source';
import { needsOf } from './needs';

/** Documents that say which columns are shown without a choice, and which there are to choose. */
const [SHOWING, KNOWN] = [100, 500];

export interface Columns {
  /** All that there are, in the order of the choice. */
  layout: Layout;
  all: readonly Column[];
  /** Those to draw. */
  drawn: readonly Placed[];
  /** px for what those that are drawn hold. */
  needs: ReadonlyMap<string, number>;
  isChosen: boolean;
  change: (id: string, change: Partial<Omit<Placed, 'id'>>) => void;
  move: (id: string, before: string | null) => void;
  reset: () => void;
}

/** The first rows, and others from everywhere behind them. */
function sample(rows: readonly Row[]): readonly Row[] {
  if (rows.length <= KNOWN) return rows;
  const step = (rows.length - SHOWING) / (KNOWN - SHOWING);
  const others = Array.from({ length: KNOWN - SHOWING }, (_, n) => {
    return rows[SHOWING + Math.floor(n * step)] as Row;
  });
  return [...rows.slice(0, SHOWING), ...others];
}

const isText = (value: unknown): value is string => typeof value === 'string';

export function useColumns(target: Target, source: Source | null, rows: readonly Row[]): Columns {
  const name = `columns:${JSON.stringify([target.door, target.database, target.collection])}`;
  const [kept, keep] = usePreference(name, '', isText);
  const choice = useMemo(() => readLayout(kept), [kept]);
  const [idField, keys] = [source?.idField ?? 'id', source?.keys];
  const of = (some: readonly Row[]) =>
    columnsOf(
      some.map(({ value }) => value),
      idField,
      keys,
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: `of` is made of the others.
  const all = useMemo(() => of(sample(rows)), [rows, idField, keys]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `of` is made of the others.
  const layout = useMemo(
    () => merged(choice ?? initialLayout(of(rows.slice(0, SHOWING))), all),
    [choice, all, rows, idField, keys],
  );
  const placed = useMemo(() => drawn(layout, all), [layout, all]);
  const needs = useMemo(
    () =>
      source === null
        ? new Map<string, number>()
        : needsOf(
            rows,
            placed.map(({ id }) => id),
            source,
          ),
    [source, rows, placed],
  );
  const put = (next: Layout) => {
    // The last one stays.
    if (drawn(next, all).length > 0) keep(layoutText(next));
  };
  return {
    layout,
    all,
    drawn: placed,
    needs,
    isChosen: choice !== null,
    change: (id, change) => put(changed(layout, id, change)),
    move: (id, before) => put(moved(layout, id, before)),
    reset: () => keep(''),
  };
}
