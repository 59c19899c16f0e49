// What a move of the clock makes expire: how many documents, and of which collections.
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
  /** It is no estimate, and ends with the move. */
  exact: boolean;
  /** Surely nothing expires. */
  none: boolean;
}

/** Collections that are asked, and how many at once. */
const [MOST, AT_ONCE] = [400, 6];

const sum = ({ steps }: Pick<Series, 'steps'>) =>
  steps.reduce((all, step) => all + step.documents, 0);

/** How many documents expire when the clock moves by so many seconds; null: not known. */
export async function tollOf(seconds: number): Promise<Toll | null> {
  const covering = coveringSteps(seconds);
  if (covering === null) return null;
  // A server without this forecast is no failure of the move.
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

/** Whether anything can expire there at all. */
export function mayLose({ live, default: value, date_indexes }: CollectionFacts): boolean {
  return live.documents > 0 && (value !== null || date_indexes > 0);
}

/** Which collections lose documents by then, those with the most first; null: not known. */
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
