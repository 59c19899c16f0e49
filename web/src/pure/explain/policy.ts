// Decides whether an indexing policy of the NoSQL API includes a path: its most specific matching
// pattern decides.

export interface Policy {
  indexingMode?: string;
  includedPaths?: readonly { path: string }[];
  excludedPaths?: readonly { path: string }[];
  compositeIndexes?: readonly (readonly { path: string; order?: string }[])[];
}

const partsOf = (path: string) => path.split('/').slice(1);

/** Returns how specifically a pattern matches a field; -1: no match. */
function precision(pattern: string, field: readonly string[]): number {
  const parts = partsOf(pattern).map((part) => part.replace(/^"(.*)"$/, '$1'));
  const end = parts.pop();
  if (end !== '?' && end !== '*') return -1;
  const fits = parts.every((part, at) => part === field[at]);
  const isWhole = parts.length === field.length;
  if (!fits || (end === '?' && !isWhole)) return -1;
  return parts.length * 2 + (end === '?' ? 1 : 0);
}

export function isIncluded(policy: Policy, field: readonly string[]): boolean {
  if (policy.indexingMode?.toLowerCase() === 'none') return false;
  const best = (paths: readonly { path: string }[] = []) =>
    Math.max(-1, ...paths.map(({ path }) => precision(path, field)));
  const [included, excluded] = [best(policy.includedPaths), best(policy.excludedPaths)];
  if (policy.includedPaths === undefined && policy.excludedPaths === undefined) return true;
  return included >= 0 && included >= excluded;
}
