// Requests of a page for import or export; `TransferButtons` shows the dialog. Does no I/O itself.
import { pathOf, type Target } from '../../../state/place';
import { createStore } from '../../../state/store';
import type { Row } from '../source';

export type Asked = (
  | { kind: 'import'; file: File | null }
  /** null: all that match the filter. */
  | { kind: 'export'; rows: readonly Row[] | null }
) & {
  /** The collection whose page is about to be opened for it; omitted: that of the current page. */
  target?: Target;
};

export const transfer = createStore<Asked | null>(null);

/** Returns whether a request is for the page of this collection. Pure. */
export function isAskedOf({ target }: Asked, here: Target): boolean {
  const path = (one: Target) => pathOf({ page: 'collection', view: 'items', ...one });
  return target === undefined || path(target) === path(here);
}

/** Opens the export of these rows in their current state on the server. */
export function exportRows(rows: readonly Row[]): void {
  transfer.set({ kind: 'export', rows });
}
