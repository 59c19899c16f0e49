// Reads the change feed of a container (latest versions) from an ETag on. It runs in the
// background, so failures are not shown. Large items are cut: only their keys and ETags are used.
import { ask, CUT, type Item, link, type Place } from './nosql';

export interface FeedPage {
  items: Item[];
  /** Continuation: where the next page starts. */
  etag: string;
}

const MOST = 1000;

/** Returns one page of changes. `since` null: starts now. */
export async function changesSince(
  at: Place,
  since: string | null,
  signal: AbortSignal,
): Promise<FeedPage> {
  const headers = {
    ...CUT,
    'a-im': 'Incremental feed',
    'if-none-match': since ?? '*',
    'x-ms-max-item-count': String(MOST),
  };
  const more = { also: [304], quiet: true, aside: true, signal };
  const path = `${link(at.database, at.container)}/docs`;
  const answer = await ask('GET', path, undefined, headers, more);
  const body = answer.status === 304 ? {} : (answer.json() as { Documents?: Item[] });
  return { items: body.Documents ?? [], etag: answer.headers.get('etag') ?? since ?? '*' };
}
