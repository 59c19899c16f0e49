// Badges of a collection in the tree: its number of documents, and whether they expire.
import { Timer } from 'lucide-react';
import type { CollectionFacts } from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import { short } from '../../pure/figures/axis';
import { inWords } from '../../pure/time/duration';

/** "about 4,512 documents, Time to live: 1 hour". */
export function inFull(facts: CollectionFacts): string {
  const { api, live, exact, default: ttl } = facts;
  const noun = api === 'nosql' ? 'item' : 'document';
  const much = `${exact ? '' : 'about '}${counted(live.documents, noun)}`;
  const dates = facts.date_indexes > 0 ? ', expires by date' : '';
  if (ttl === null) return much + dates;
  return `${much}, Time to live: ${ttl === -1 ? 'on, no default' : inWords(ttl)}${dates}`;
}

/**
 * Visual only; the row's accessible description has the same in words. Without text content, so
 * that the row's accessible name stays the collection's name.
 */
export function Facts({ facts }: { facts: CollectionFacts }) {
  return (
    <span className="tree-facts" aria-hidden="true" data-live={short(facts.live.documents)}>
      {(facts.default !== null || facts.date_indexes > 0) && <Timer className="icon tree-ttl" />}
    </span>
  );
}
