// What lies over every page and is no form: the palette, the sheet of shortcuts, the question before the
// clock moves. One at a time.
import { createStore } from '../../state/store';

export type Overlay =
  /** With what was typed before its code had come. */
  | { kind: 'palette'; typed?: string }
  | { kind: 'sheet' }
  /** The clock is to go forward by so many seconds. */
  | { kind: 'advance'; seconds: number };

export const overlay = createStore<Overlay | null>(null);
