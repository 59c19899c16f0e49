// What is exported of an item: its JSON with every number as it was written, without what the server
// sets, since that cannot be written again.

import type { ItemText } from '../importing/found';
import { printCompact, readJson, without } from '../json/tree';
import { SYSTEM_FIELDS } from '../values/system';

/** An item on one line. */
export function itemText(text: ItemText, withSystem: boolean): string {
  const read = readJson(text);
  if ('error' in read) throw new Error(`The server's answer is no JSON: ${read.error}`);
  return printCompact(withSystem ? read.root : without(read.root, SYSTEM_FIELDS));
}
