// The change feed of a container, latest versions: what was written since an ETag. Nobody waits for it,
// so its failures are not shown.
import { send } from './http';
import { type Item, link, type Place } from './nosql';

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
  const answer = await send({
    path: `/_portal/api/nosql${link(at.database, at.container)}/docs`,
    headers: {
      'x-ms-version': '2020-07-15',
      'a-im': 'Incremental feed',
      'if-none-match': since ?? '*',
      'x-ms-max-item-count': String(MOST),
    },
    also: [304],
    quiet: true,
    aside: true,
    signal,
  });
  const body = answer.status === 304 ? {} : (answer.json() as { Documents?: Item[] });
  return { items: body.Documents ?? [], etag: answer.headers.get('etag') ?? since ?? '*' };
}
