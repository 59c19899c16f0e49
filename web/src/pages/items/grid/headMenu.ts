// The menu of a column heading.
import { titleOf } from '../../../pure/columns/columns';
import type { Placed } from '../../../pure/columns/layout';
import type { MenuItem } from '../../../ui/Menu';
import type { Sort } from '../sort';
import type { Columns } from './useColumns';

export const STEP = 24;

/** Moves a column by one position among the rendered ones. */
export function shift(columns: Columns, drawn: readonly Placed[], id: string, by: 1 | -1): void {
  const at = drawn.findIndex((placed) => placed.id === id);
  const over = drawn[at + by];
  const from = drawn[at];
  if (over === undefined || from === undefined) return;
  // Pinned columns always precede the others.
  if (over.pinned !== from.pinned) return;
  if (by < 0) columns.move(id, over.id);
  else columns.move(over.id, id);
}

export interface HeadMenu {
  columns: Columns;
  drawn: readonly Placed[];
  id: string;
  width: number;
  sort: Sort | null;
  onSort: (sort: Sort | null) => void;
}

export function headMenu({ columns, drawn, id, width, sort, onSort }: HeadMenu): MenuItem[] {
  const here = drawn.find((placed) => placed.id === id);
  const only = drawn.length === 1 ? 'At least one column must be shown.' : null;
  return [
    { label: 'Sort ascending', onChoose: () => onSort({ column: id, direction: 1 }) },
    { label: 'Sort descending', onChoose: () => onSort({ column: id, direction: -1 }) },
    {
      label: 'Clear sort',
      onChoose: () => onSort(null),
      reason: sort === null ? 'No sort is set.' : null,
    },
    {
      label: here?.pinned === true ? 'Unpin' : 'Pin to the left',
      onChoose: () => columns.change(id, { pinned: here?.pinned !== true }),
    },
    { label: 'Move left (Ctrl+Shift+←)', onChoose: () => shift(columns, drawn, id, -1) },
    { label: 'Move right (Ctrl+Shift+→)', onChoose: () => shift(columns, drawn, id, 1) },
    { label: 'Wider (Shift+→)', onChoose: () => columns.change(id, { width: width + STEP }) },
    { label: 'Narrower (Shift+←)', onChoose: () => columns.change(id, { width: width - STEP }) },
    { label: 'Reset width', onChoose: () => columns.change(id, { width: null }) },
    {
      label: `Hide ${titleOf(id)}`,
      onChoose: () => columns.change(id, { shown: false }),
      reason: only,
    },
  ];
}
