// Computes the expirations that a clock move causes: number of documents, by collection.
import {
  accountSeries,
  allCollections,
  type CollectionFacts,
  type Series,
  series,
} from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import type { Target } from '../../state/place';
import { coveringSteps } from './clock';

export interface Loss {
  target: Target;
  documents: number;
}
export interface Toll {
  documents: number;
  /** Not an estimate, and the forecast ends exactly with the move. */
  exact: boolean;
  /** Certainly no document expires. */
  none: boolean;
}

/** Maximum number of collections that are queried, and concurrent requests. */
const [MOST, AT_ONCE] = [400, 6];

const sum = ({ steps }: Pick<Series, 'steps'>) =>
  steps.reduce((all, step) => all + step.documents, 0);

/** Returns how many documents a move expires; null: not known. */
export async function tollOf(seconds: number): Promise<Toll | null> {
  const covering = coveringSteps(seconds);
  if (covering === null) return null;
  // A server without this forecast must not prevent the move.
  const found = await accountSeries(covering.step, covering.steps).catch(() => null);
  if (found === null) return null;
  const isWhole = covering.step * covering.steps === seconds;
  const documents = sum(found);
  return { documents, exact: found.exact && isWhole, none: found.exact && documents === 0 };
}

/** "12 documents", "about 12 documents". */
export function tollWords({ documents, exact }: Omit<Toll, 'none'>): string {
  return `${exact ? '' : 'about '}${counted(documents, 'document')}`;
}

/** Returns whether any document of a collection can expire. */
export function mayLose({ live, default: value, date_indexes }: CollectionFacts): boolean {
  return live.documents > 0 && (value !== null || date_indexes > 0);
}

/** Returns the collections that lose documents, most first; null: not known. */
export async function lossesOf(seconds: number, signal: AbortSignal): Promise<Loss[] | null> {
  const covering = coveringSteps(seconds);
  if (covering === null) return null;
  const waiting = (await allCollections()).filter(mayLose);
  if (waiting.length > MOST) return null;
  const losses: Loss[] = [];
  const work = async () => {
    for (let facts = waiting.pop(); facts !== undefined; facts = waiting.pop()) {
      if (signal.aborted) return;
      const { api: door, database, collection } = facts;
      const target = { door, database, collection };
      const documents = sum(await series(target, covering.step, covering.steps));
      if (documents > 0) losses.push({ target, documents });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return losses.sort((a, b) => b.documents - a.documents);
}
