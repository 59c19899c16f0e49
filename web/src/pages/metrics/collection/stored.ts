// Storage figures of a collection in its API's format: size of the tables. Both APIs omit documents
// that are only in the journal. Pure.
import { type Document, numberOf } from '../../../api/mongo';
import { bytes, count, counted } from '../../../pure/figures/amount';
import type { Figure } from '../../../ui/Figures';

const WITHOUT_JOURNAL =
  'Includes indexes and expired data not yet removed; excludes data that is only in the journal.';
const IN_JOURNAL = 'In the journal only';

/** From the reply of `collStats`. */
export function storedOfMongo(stats: Document): Figure[] {
  const number = (name: string) => numberOf(stats[name] ?? 0);
  const [documents, total, ofIndexes] = ['count', 'totalSize', 'totalIndexSize'].map(number) as [
    number,
    number,
    number,
  ];
  const indexes = number('nindexes');
  const isInJournal = total === 0 && documents > 0;
  const all = `${counted(documents, 'document')}, ${bytes(number('size'))}`;
  return [
    {
      name: 'On disk',
      value: isInJournal ? IN_JOURNAL : bytes(total),
      hint: isInJournal ? `Size: ${all}. Not yet flushed to tables.` : WITHOUT_JOURNAL,
    },
    {
      name: 'Indexes',
      value: isInJournal && ofIndexes === 0 ? IN_JOURNAL : bytes(ofIndexes),
      hint: indexes === 1 ? '1 index' : `${count(indexes)} indexes`,
    },
    { name: 'Average document size', value: bytes(number('avgObjSize')) },
  ];
}

/** From the usage header of a container; empty if the server sends none. */
export function storedOfNosql(usage: string): Figure[] {
  const number = (name: string) => {
    const found = new RegExp(`(?:^|;)${name}=(\\d+)`).exec(usage)?.[1];
    return found === undefined ? null : Number(found);
  };
  const [items, alone, all] = ['documentsCount', 'documentsSize', 'collectionSize'].map(number);
  if (all == null) return [];
  // The API reports the size of the items if the tables are smaller.
  const isLeast = items != null && items > 0 && alone === all;
  return [
    {
      name: 'On disk',
      value: isLeast ? `${counted(items, 'item')}, ${bytes(all * 1024)}` : bytes(all * 1024),
      hint: isLeast
        ? 'Items only; some or all of them are in the journal and not yet flushed to tables.'
        : WITHOUT_JOURNAL,
    },
  ];
}
