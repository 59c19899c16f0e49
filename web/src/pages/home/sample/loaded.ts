// The sample that was loaded last, while the portal is open; and where its parts lie.
import type { Sample } from '../../../api/admin';
import type { Target } from '../../../state/place';
import { createStore } from '../../../state/store';

export const loaded = createStore<Sample | null>(null);

export interface Part {
  target: Target;
  /** How many there were when it was loaded. */
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
