// The name that a query of the NoSQL language has for its items. Reads the text roughly.

const FROM =
  /\bFROM\s+([A-Za-z_]\w*)(?:\s+(?:AS\s+)?(?!WHERE|ORDER|GROUP|JOIN|OFFSET|IN\b)([A-Za-z_]\w*))?/i;

/** The alias behind FROM, or what stands there without one; `c` where there is no FROM yet. */
export function sqlAlias(text: string): string {
  const found = FROM.exec(text);
  return found?.[2] ?? found?.[1] ?? 'c';
}
