// Changes of one item of many: not one by one in the console, and stopped together.
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

/** PATCH with operations `{op, path, value}`, of the item as it was read. */
export async function patchOne(
  about: About,
  operations: unknown[],
  etag: string,
): Promise<ItemText> {
  // Where somebody else was faster is said in the end, together.
  const answer = await askFor(about, 'PATCH', { operations }, { 'if-match': etag });
  return { text: answer.text(), etag: answer.headers.get('etag') ?? '' };
}

export async function deleteOne(about: About): Promise<void> {
  await askFor(about, 'DELETE');
}
