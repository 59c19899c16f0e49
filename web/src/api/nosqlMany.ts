// Operations on single items within a bulk change: not logged one by one, and cancelled together.
import { ask, type ItemText, keyHeader, link, type PartitionKey, type Place } from './nosql';

export interface About {
  at: Place;
  id: string;
  key: PartitionKey;
  signal: AbortSignal;
}

function askFor(
  { at, id, key, signal }: About,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const path = link(at.database, at.container, id);
  return ask(method, path, body, { ...keyHeader(key), ...headers }, { quiet: true, signal });
}

/** PATCH with operations `{op, path, value}`, only if the item is unchanged since it was read. */
export async function patchOne(
  about: About,
  operations: unknown[],
  etag: string,
): Promise<ItemText> {
  // Conflicts are reported together at the end of the bulk change.
  const answer = await askFor(about, 'PATCH', { operations }, { 'if-match': etag });
  return { text: answer.text(), etag: answer.headers.get('etag') ?? '' };
}

export async function deleteOne(about: About): Promise<void> {
  await askFor(about, 'DELETE');
}
