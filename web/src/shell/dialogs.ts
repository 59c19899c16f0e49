// The open dialog of the frame. Pages request one here; `Dialogs` renders it.
import type { Door, Target } from '../state/place';
import { createStore } from '../state/store';

export type Asked =
  | { kind: 'database' }
  /** Creates a container or collection; the database is preselected. */
  | { kind: 'collection'; door: Door; database: string | null }
  | { kind: 'delete-database'; door: Door; database: string }
  /** The default TTL of several containers or collections. */
  | { kind: 'defaults'; several: { door: Door; database: string; names: readonly string[] } }
  | { kind: 'rename' | 'empty' | 'duplicate' | 'delete-collection'; target: Target };

export const dialog = createStore<Asked | null>(null);

/** Returns what an API calls its collections. */
export function noun(door: Door): 'container' | 'collection' {
  return door === 'nosql' ? 'container' : 'collection';
}

export const DOOR_NAMES: Record<Door, string> = { nosql: 'NoSQL', mongo: 'MongoDB' };

/** Reason for disabled controls in a read-only session. */
export const READ_ONLY = 'Read-only session.';
