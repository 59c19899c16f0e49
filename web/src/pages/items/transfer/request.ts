// What a page asks of import and export: `TransferButtons` shows the dialog for it. Reads and writes
// nothing itself.
import { pathOf, type Target } from '../../../state/place';
import { createStore } from '../../../state/store';
import type { Row } from '../source';

export type Asked = (
  | { kind: 'import'; file: File | null }
  /** What meets the filter, or these rows. */
  | { kind: 'export'; rows: readonly Row[] | null }
) & {
  /** The collection whose page is about to be opened for it; left out: that of the page that is shown. */
  target?: Target;
};

export const transfer = createStore<Asked | null>(null);

/** Whether something was asked of the page of this collection. Pure. */
export function isAskedOf({ target }: Asked, here: Target): boolean {
  const path = (one: Target) => pathOf({ page: 'collection', view: 'items', ...one });
  return target === undefined || path(target) === path(here);
}

/** Asks in which form to save these rows, and saves them as they are on the server then. */
export function exportRows(rows: readonly Row[]): void {
  transfer.set({ kind: 'export', rows });
}
