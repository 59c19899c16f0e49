// How a list is sorted: by the server, with or without an index, or only the loaded rows; and the
// messages about it.
import { useEffect, useMemo, useState } from 'react';
import { EXPIRES, titleOf } from '../../pure/columns/columns';
import { partsOfPath } from '../../pure/values/path';
import { readSort, type Sort } from './sort';
import type { Source } from './source';

export interface Order {
  sort: Sort | null;
  /** The requested order; null: the server's. */
  asked: Sort | null;
  /** Tooltip of a column heading about sorting. */
  tip: (column: string) => string;
  /** Message for the bar; null: not sorted. */
  words: (loaded: number, unsorted: string | null) => string | null;
}

type ServedBy = (parts: readonly string[]) => string | null;

/** Loads the indexes once per state of the collection; null: not known. */
function useIndexes(source: Source | null): ServedBy | null {
  const [known, setKnown] = useState<{ source: Source; served: ServedBy } | null>(null);
  useEffect(() => {
    if (source === null) return;
    let ended = false;
    source.readIndexes().then(
      (served) => {
        if (!ended) setKnown({ source, served });
      },
      // Without them the messages omit indexes.
      () => {},
    );
    return () => {
      ended = true;
    };
  }, [source]);
  return known !== null && known.source === source ? known.served : null;
}

function servedWords(served: ServedBy | null, column: string): string {
  if (column === EXPIRES) return 'next to expire first; documents that never expire are not listed';
  if (served === null) return 'the server sorts';
  const index = served(partsOfPath(column));
  return index === null
    ? 'no index for this sort, so the server sorts all matches'
    : `index ${index} serves this order`;
}

export function useOrder(source: Source | null, filter: string, text: string | null): Order {
  const served = useIndexes(source);
  const sort = useMemo(() => readSort(text), [text]);
  return useMemo(() => {
    const whyNot = (by: Sort) => source?.whyNotSorted(filter, by) ?? null;
    const asked = sort !== null && whyNot(sort) === null ? sort : null;
    const loadedOnly = (why: string) => `sorts only the loaded rows: ${why}`;
    return {
      sort,
      asked,
      tip: (column) => {
        // The first click sorts ascending.
        const why = whyNot({ column, direction: 1 });
        return why === null ? servedWords(served, column) : loadedOnly(why);
      },
      words: (loaded, unsorted) => {
        if (sort === null) return null;
        const way = sort.direction > 0 ? 'ascending' : 'descending';
        const why = whyNot(sort) ?? unsorted;
        const how =
          why === null
            ? servedWords(served, sort.column)
            : `only the ${loaded.toLocaleString('en')} loaded rows, since ${why}`;
        return `Sorted by ${titleOf(sort.column)} ${way}: ${how}`;
      },
    };
  }, [source, filter, sort, served]);
}
