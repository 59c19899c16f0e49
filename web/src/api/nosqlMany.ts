// Changes of one item of many: not one by one in the console, and stopped together.
import { send } from './http';
import { type ItemText, keyHeader, link, type PartitionKey, type Place } from './nosql';

export interface About {
  at: Place;
  id: string;
  key: PartitionKey;
  signal: AbortSignal;
}

const ROOT = '/_portal/api/nosql';
const VERSION = { 'x-ms-version': '2020-07-15' };

function ask({ at, id, key, signal }: About, method: string, more: Record<string, string>) {
  const path = ROOT + link(at.database, at.container, id);
  return { method, path, headers: { ...VERSION, ...keyHeader(key), ...more }, quiet: true, signal };
}

/** PATCH with operations `{op, path, value}`, of the item as it was read. */
export async function patchOne(
  about: About,
  operations: unknown[],
  etag: string,
): Promise<ItemText> {
  const headers = { 'content-type': 'application/json', 'if-match': etag };
  // Where somebody else was faster is said in the end, together.
  const answer = await send({
    ...ask(about, 'PATCH', headers),
    body: JSON.stringify({ operations }),
  });
  return { text: answer.text(), etag: answer.headers.get('etag') ?? '' };
}

export async function deleteOne(about: About): Promise<void> {
  await send(ask(about, 'DELETE', {}));
}
