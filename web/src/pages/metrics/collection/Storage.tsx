// Storage of a collection and its indexes, as reported by its API.
import { run } from '../../../api/mongo';
import { containerUsage } from '../../../api/nosql';
import type { Target } from '../../../state/place';
import { usePolled } from '../../../state/polled';
import { type Figure, Figures } from '../../../ui/Figures';
import { storedOfMongo, storedOfNosql } from './stored';

const REFRESH_MS = 15_000;

async function figuresOf({ door, database, collection }: Target): Promise<Figure[]> {
  if (door === 'nosql') return storedOfNosql(await containerUsage(database, collection));
  const command = { collStats: collection };
  return storedOfMongo(await run(database, command, { quiet: true, aside: true }));
}

/** Renders nothing if the values are unknown. */
export function Storage({ target }: { target: Target }) {
  const { value } = usePolled(() => figuresOf(target), REFRESH_MS);
  if (value === null || value.length === 0) return null;
  return <Figures figures={value} label="Storage" />;
}
