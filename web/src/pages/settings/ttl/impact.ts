// Formats a preview. No requests.
import type { Amount, DefaultTtl, Preview } from '../../../api/admin';
import { bytes, count, counted } from '../../../pure/figures/amount';

/** The API's names of documents and collections. */
export interface Nouns {
  one: 'item' | 'document';
  many: 'items' | 'documents';
  place: 'container' | 'collection';
}

export const NOUNS: Record<'nosql' | 'mongo', Nouns> = {
  nosql: { one: 'item', many: 'items', place: 'container' },
  mongo: { one: 'document', many: 'documents', place: 'collection' },
};

/** Formats a count, as a fraction of all live documents if known. */
function among(dying: number, live: Amount | null, nouns: Nouns): string {
  if (live === null || live.documents < dying) return counted(dying, nouns.one);
  return `${count(dying)} of ${counted(live.documents, nouns.one)}`;
}

function none(value: DefaultTtl, live: Amount | null, nouns: Nouns): string {
  if (value === null && nouns.one === 'item') {
    return 'No item expires while TTL is off.';
  }
  if (value === null || value === -1 || live === null) return 'Nothing expires immediately.';
  if (live.documents === 0) return `There are no ${nouns.many}: nothing expires immediately.`;
  const whom =
    live.documents === 1
      ? `The only ${nouns.one} is not`
      : `None of the ${counted(live.documents, nouns.one)} is`;
  return `${whom} older than this: nothing expires immediately.`;
}

/** "12,431 of 20,000 items (5.2 MB) are already older than this and will expire immediately." */
export function expiresNow(
  preview: Preview,
  value: DefaultTtl,
  live: Amount | null,
  nouns: Nouns,
): string {
  const dying = preview.dies_now;
  const about = preview.exact ? '' : 'about ';
  if (dying.documents === 0) {
    const said = none(value, live, nouns);
    return preview.exact ? said : `${said} (This is an estimate.)`;
  }
  const [are, have] = dying.documents === 1 ? ['is', 'has'] : ['are', 'have'];
  const why =
    value === -1
      ? `${have} a “ttl” that has elapsed`
      : value === null
        ? `${are} due`
        : `${are} already older than this`;
  const said = `${about}${among(dying.documents, live, nouns)} (${bytes(dying.bytes)}) ${why} and will expire immediately.`;
  return said.charAt(0).toUpperCase() + said.slice(1);
}

/** Returns how many more documents expire than in the confirmed preview. */
export function moved(agreed: Preview, now: Preview): number {
  return now.dies_now.documents - agreed.dies_now.documents;
}

/**
 * Returns whether to confirm again. With a running clock documents become due while the user types,
 * so 1 % more is tolerated; with a manual clock nothing changes.
 */
export function mustAskAgain(agreed: Preview, now: Preview, runs: boolean): boolean {
  const more = moved(agreed, now);
  if (!runs) return more !== 0;
  return more > agreed.dies_now.documents / 100;
}
