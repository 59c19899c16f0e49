// Overlays of every page that are not forms: the palette, the sheet of shortcuts, the confirmation
// of a clock move. One at a time.
import { createStore } from '../../state/store';

export type Overlay =
  /** With the text typed while its code was loading. */
  | { kind: 'palette'; typed?: string }
  | { kind: 'sheet' }
  /** Advance the clock by this many seconds. */
  | { kind: 'advance'; seconds: number };

export const overlay = createStore<Overlay | null>(null);
