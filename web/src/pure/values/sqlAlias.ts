// Finds the alias of the items in a NoSQL query. Parses leniently.

const FROM =
  /\bFROM\s+([A-Za-z_]\w*)(?:\s+(?:AS\s+)?(?!WHERE|ORDER|GROUP|JOIN|OFFSET|IN\b)([A-Za-z_]\w*))?/i;

/** Returns the alias after FROM, else the source's name; `c` without FROM. */
export function sqlAlias(text: string): string {
  const found = FROM.exec(text);
  return found?.[2] ?? found?.[1] ?? 'c';
}
