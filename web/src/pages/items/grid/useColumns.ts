// Columns of a collection's grid: the existing fields, combined with the user's choice, which is
// kept in the browser.
import { useMemo, useRef } from 'react';
import { type Column, columnsFrom, columnsOf, isOfNumbers } from '../../../pure/columns/columns';
import {
  changed,
  continued,
  drawn,
  initialLayout,
  type Layout,
  layoutText,
  merged,
  moved,
  type Placed,
  readLayout,
} from '../../../pure/columns/layout';
import { ListTally } from '../../../pure/columns/tally';
import type { Target } from '../../../state/place';
import { usePreference } from '../../../state/preference';
import { isWithoutTtl } from '../expires';
import { type Row, type Source, shownOf } from '../source';
import { needsOf } from './needs';

/** Number of documents that determine the default columns: loading more does not change them. */
const SHOWING = 100;

export interface Columns {
  /** All columns in the chosen order. */
  layout: Layout;
  all: readonly Column[];
  /** The columns to render. */
  drawn: readonly Placed[];
  /** Widths that the contents of rendered columns need, px. */
  needs: ReadonlyMap<string, number>;
  /** Numeric columns, which are right-aligned. */
  numbers: ReadonlySet<string>;
  isChosen: boolean;
  change: (id: string, change: Partial<Omit<Placed, 'id'>>) => void;
  move: (id: string, before: string | null) => void;
  reset: () => void;
}

const isText = (value: unknown): value is string => typeof value === 'string';

export function useColumns(target: Target, source: Source | null, rows: readonly Row[]): Columns {
  const name = `columns:${JSON.stringify([target.door, target.database, target.collection])}`;
  const [kept, keep] = usePreference(name, '', isText);
  const choice = useMemo(() => readLayout(kept), [kept]);
  const [idField, keys] = [source?.idField ?? 'id', source?.keys];
  const values = useMemo(() => rows.map(shownOf), [rows]);
  const tally = useMemo(() => new ListTally(), [name]);
  const all = useMemo(
    () => columnsFrom(tally.of(values), idField, keys),
    [tally, values, idField, keys],
  );
  const withoutTtl = useMemo(() => isWithoutTtl(rows.slice(0, SHOWING)), [rows]);
  const unchosen = useRef<{ name: string; layout: Layout } | null>(null);
  const layout = useMemo(() => {
    const first = () => {
      const next = initialLayout(columnsOf(values.slice(0, SHOWING), idField, keys), withoutTtl);
      const before = unchosen.current?.name === name ? unchosen.current.layout : null;
      const found = before === null ? next : continued(before, next);
      if (values.length > 0) unchosen.current = { name, layout: found };
      return found;
    };
    return merged(choice ?? first(), all);
  }, [choice, all, values, idField, keys, name, withoutTtl]);
  const numbers = useMemo(
    () => new Set(all.filter((one) => one.id !== idField && isOfNumbers(one)).map(({ id }) => id)),
    [all, idField],
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
    // The last column cannot be hidden.
    if (drawn(next, all).length > 0) keep(layoutText(next));
  };
  return {
    layout,
    all,
    drawn: placed,
    needs,
    numbers,
    isChosen: choice !== null,
    change: (id, change) => put(changed(layout, id, change)),
    move: (id, before) => put(moved(layout, id, before)),
    reset: () => keep(''),
  };
}
