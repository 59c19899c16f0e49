// What a collection takes on disk and for its indexes, as its API tells.
import { numberOf, run } from '../../../api/mongo';
import { containerBytes } from '../../../api/nosql';
import { bytes, count } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { usePolled } from '../../../state/polled';
import { type Figure, Figures } from '../../../ui/Figures';

const REFRESH_MS = 15_000;
const ON_DISK =
  'With indexes, and with what has expired and is not yet removed; without what is in the journal alone.';

async function ofMongo({ database, collection }: Target): Promise<Figure[]> {
  const stats = await run(database, { collStats: collection }, { quiet: true, aside: true });
  const size = (name: string) => bytes(numberOf(stats[name] ?? 0));
  const indexes = numberOf(stats.nindexes ?? 0);
  return [
    {
      name: 'On disk',
      value: size('totalSize'),
      hint: ON_DISK,
    },
    {
      name: 'Indexes',
      value: size('totalIndexSize'),
      hint: indexes === 1 ? '1 index' : `${count(indexes)} indexes`,
    },
    { name: 'A document on average', value: size('avgObjSize') },
  ];
}

async function ofNosql({ database, collection }: Target): Promise<Figure[]> {
  const size = await containerBytes(database, collection);
  if (size === null) return [];
  return [{ name: 'On disk', value: bytes(size), hint: ON_DISK }];
}

/** Nothing where it is not told: the figures above it stay. */
export function Storage({ target }: { target: Target }) {
  const read = target.door === 'mongo' ? ofMongo : ofNosql;
  const { value } = usePolled(() => read(target), REFRESH_MS);
  if (value === null || value.length === 0) return null;
  return <Figures figures={value} label="Storage" />;
}
