// Which dialog of the frame is open. Pages ask for one here; `Dialogs` shows it.
import type { Door, Target } from '../state/place';
import { createStore } from '../state/store';

export type Asked =
  | { kind: 'database' }
  /** A container or collection; the database is a proposal. */
  | { kind: 'collection'; door: Door; database: string | null }
  | { kind: 'delete-database'; door: Door; database: string }
  /** The default time to live of several containers or collections. */
  | { kind: 'defaults'; several: { door: Door; database: string; names: readonly string[] } }
  | { kind: 'rename' | 'empty' | 'duplicate' | 'delete-collection'; target: Target };

export const dialog = createStore<Asked | null>(null);

/** What the things of a door are called. */
export function noun(door: Door): 'container' | 'collection' {
  return door === 'nosql' ? 'container' : 'collection';
}

export const DOOR_NAMES: Record<Door, string> = { nosql: 'NoSQL', mongo: 'MongoDB' };

/** Why a control that changes something cannot be used by somebody who may only read. */
export const READ_ONLY = 'This session may only read.';
