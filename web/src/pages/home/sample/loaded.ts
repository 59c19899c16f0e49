// The last sample loaded in this session, and the addresses of its parts.
import { loadSample, type Sample } from '../../../api/admin';
import { say } from '../../../state/log';
import type { Target } from '../../../state/place';
import { askAgain } from '../../../state/server';
import { createStore } from '../../../state/store';
import { refreshTree } from '../../../state/tree';

export const loaded = createStore<Sample | null>(null);

export async function loadTheSample(): Promise<void> {
  const made = await loadSample();
  loaded.set(made);
  say({ kind: 'done', text: `Successfully loaded sample data into database ${made.database}` });
  askAgain();
  void refreshTree();
}

export interface Part {
  target: Target;
  /** Number of documents when it was loaded. */
  whole: number;
}

export function partsOf({ database, nosql, mongo }: Sample): Part[] {
  const parts: Part[] = [];
  if (nosql !== null) {
    const target: Target = { door: 'nosql', database, collection: nosql.container };
    parts.push({ target, whole: nosql.items });
  }
  if (mongo !== null) {
    const target: Target = { door: 'mongo', database, collection: mongo.collection };
    parts.push({ target, whole: mongo.documents });
  }
  return parts;
}
