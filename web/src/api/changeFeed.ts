// The change feed of a container, latest versions: what was written since an ETag. Nobody waits for it,
// so its failures are not shown.
import { ask, type Item, link, type Place } from './nosql';

export interface FeedPage {
  items: Item[];
  /** Where the next page begins. */
  etag: string;
}

const MOST = 1000;

/** `since` null: begins now. */
export async function changesSince(
  at: Place,
  since: string | null,
  signal: AbortSignal,
): Promise<FeedPage> {
  const headers = {
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
