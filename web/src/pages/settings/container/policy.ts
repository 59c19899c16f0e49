// Validates the text of an indexing policy before it is sent. The server makes the final check of
// paths.
import { jsonFault } from '../../../pure/json/fault';

export const POLICY_BOUND = { characters: 256 * 1024, why: 'A policy has at most 256 KB' };

export type ReadPolicy = { policy: Record<string, unknown> } | { problems: string[] };

export const MODES = ['consistent', 'lazy', 'none'] as const;

export const DEFAULT_POLICY = {
  indexingMode: 'consistent',
  automatic: true,
  includedPaths: [{ path: '/*' }],
  excludedPaths: [{ path: '/"_etag"/?' }],
};

export function policyText(policy: unknown): string {
  return JSON.stringify(policy ?? DEFAULT_POLICY, null, 2);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function paths(policy: Record<string, unknown>, name: string, problems: string[]): string[] {
  const list = policy[name] ?? [];
  if (!Array.isArray(list)) {
    problems.push(`“${name}” is not an array.`);
    return [];
  }
  const found: string[] = [];
  (list as unknown[]).forEach((entry, at) => {
    const path = isObject(entry) ? entry.path : undefined;
    if (typeof path !== 'string')
      problems.push(`“${name}”, entry ${at + 1}: has no string “path”.`);
    else if (!path.startsWith('/')) {
      problems.push(`“${name}”, entry ${at + 1}: the path “${path}” does not begin with “/”.`);
    } else found.push(path);
  });
  return found;
}

function composites(policy: Record<string, unknown>, problems: string[]): void {
  const list = policy.compositeIndexes ?? [];
  if (!Array.isArray(list)) {
    problems.push('“compositeIndexes” is not an array.');
    return;
  }
  (list as unknown[]).forEach((entries, at) => {
    const where = `“compositeIndexes”, index ${at + 1}`;
    if (!Array.isArray(entries)) problems.push(`${where}: is not an array of paths.`);
    else if (entries.length < 2 || entries.length > 8) problems.push(`${where}: has 2 to 8 paths.`);
    else {
      for (const entry of entries as unknown[]) {
        const { path, order } = isObject(entry) ? entry : {};
        if (typeof path !== 'string' || !path.startsWith('/')) {
          problems.push(`${where}: an entry has no “path” that begins with “/”.`);
        }
        if (order !== undefined && order !== 'ascending' && order !== 'descending') {
          problems.push(`${where}: “order” is “ascending” or “descending”.`);
        }
      }
    }
  });
}

function modeOf(policy: Record<string, unknown>, problems: string[]): string {
  const mode = policy.indexingMode ?? 'consistent';
  const known = MODES.find((name) => typeof mode === 'string' && mode.toLowerCase() === name);
  if (known === undefined) {
    problems.push(`“indexingMode” is “consistent”, “lazy” or “none”, not ${JSON.stringify(mode)}.`);
  }
  return known ?? '';
}

/** Returns whether a policy disables indexing, which excludes TTL. */
export function indexesNothing(policy: unknown): boolean {
  return isObject(policy) && modeOf(policy, []) === 'none';
}

export function readPolicy(text: string): ReadPolicy {
  const fault = jsonFault(text);
  if (fault !== null) {
    const { line, column, why } = fault;
    return { problems: [`Line ${line}, column ${column}: this is not JSON, ${why}.`] };
  }
  const policy: unknown = JSON.parse(text);
  if (!isObject(policy)) return { problems: ['An indexing policy is an object: {…}.'] };
  const problems: string[] = [];
  const mode = modeOf(policy, problems);
  const { automatic, compositeIndexes } = policy;
  if (automatic !== undefined && typeof automatic !== 'boolean') {
    problems.push('“automatic” is true or false.');
  }
  const all = ['includedPaths', 'excludedPaths'].flatMap((name) => paths(policy, name, problems));
  const seen = new Set<string>();
  const twice = all.find((path) => seen.has(path) || !seen.add(path));
  if (twice !== undefined) problems.push(`The path “${twice}” occurs twice.`);
  const rooted = all.some((path) => ['/', '/*', '/?'].includes(path));
  if (mode !== 'none' && all.length > 0 && !rooted) {
    problems.push('The path “/*” has to be among the included or the excluded ones.');
  }
  if (mode === 'none' && all.length > 0) {
    problems.push('With “indexingMode” “none” there are no included and no excluded paths.');
  }
  composites(policy, problems);
  if (mode === 'none' && Array.isArray(compositeIndexes) && compositeIndexes.length > 0) {
    problems.push('With “indexingMode” “none” there are no composite indexes.');
  }
  return problems.length === 0 ? { policy } : { problems: [...new Set(problems)] };
}
