// Exports an item as JSON with every number as written, without fields set by the server, since
// they cannot be written back.

import type { ItemText } from '../importing/found';
import { printCompact, readJson, without } from '../json/tree';
import { SYSTEM_FIELDS } from '../values/system';

/** Serializes an item on one line. */
export function itemText(text: ItemText, withSystem: boolean): string {
  const read = readJson(text);
  if ('error' in read) throw new Error(`The server's response is not JSON: ${read.error}`);
  return printCompact(withSystem ? read.root : without(read.root, SYSTEM_FIELDS));
}
