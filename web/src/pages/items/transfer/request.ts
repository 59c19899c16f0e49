// What a page asks of import and export: `TransferButtons` shows the dialog for it. Reads and writes
// nothing itself.
import { createStore } from '../../../state/store';
import type { Row } from '../source';

export type Asked =
  | { kind: 'import'; file: File | null }
  /** What meets the filter, or these rows. */
  | { kind: 'export'; rows: readonly Row[] | null };

export const transfer = createStore<Asked | null>(null);

/** Asks in which form to save these rows, and saves them as they are on the server then. */
export function exportRows(rows: readonly Row[]): void {
  transfer.set({ kind: 'export', rows });
}
