// Converts an indexing policy to a form and back; other parts of the policy are preserved. Pure.
import { DEFAULT_POLICY } from './policy';

export type Mode = 'consistent' | 'lazy' | 'none';

export interface CompositePath {
  path: string;
  order: 'ascending' | 'descending';
}

export interface PolicyForm {
  mode: Mode;
  included: readonly string[];
  excluded: readonly string[];
  composites: readonly (readonly CompositePath[])[];
}

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Fields) : null;
}

/** Returns the paths of a list; null if it is malformed. */
function pathsOf(list: unknown): string[] | null {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return null;
  const paths = list.map((entry) => fieldsOf(entry)?.path);
  return paths.every((path) => typeof path === 'string') ? paths : null;
}

function compositesOf(list: unknown): CompositePath[][] | null {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return null;
  const all = list.map((entries: unknown) => {
    const paths = pathsOf(entries);
    if (paths === null || !Array.isArray(entries)) return null;
    return paths.map((path, at): CompositePath => {
      const isDown = fieldsOf(entries[at])?.order === 'descending';
      return { path, order: isDown ? 'descending' : 'ascending' };
    });
  });
  return all.every((one) => one !== null) ? all : null;
}

/** Returns the form of a policy's text, even of an invalid policy; null: not representable. */
export function formOf(text: string): PolicyForm | null {
  let policy: Fields | null;
  try {
    policy = fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
  if (policy === null) return null;
  const named = String(policy.indexingMode ?? 'consistent').toLowerCase();
  const mode = (['consistent', 'lazy', 'none'] as const).find((known) => known === named);
  const included = pathsOf(policy.includedPaths);
  const excluded = pathsOf(policy.excludedPaths);
  const composites = compositesOf(policy.compositeIndexes);
  if (mode === undefined || included === null || excluded === null || composites === null) {
    return null;
  }
  return { mode, included, excluded, composites };
}

/** Returns entries for these paths; existing entries keep their other fields. */
function entriesOf(paths: readonly string[], before: unknown): unknown[] {
  const known = Array.isArray(before) ? before.map(fieldsOf) : [];
  return paths.map((path) => known.find((entry) => entry?.path === path) ?? { path });
}

/** Returns the policy's text with the form's values. */
export function withForm(text: string, form: PolicyForm): string {
  const before = fieldsOf(JSON.parse(text)) ?? {};
  const policy: Fields = {
    ...before,
    indexingMode: form.mode,
    includedPaths: entriesOf(form.included, before.includedPaths),
    excludedPaths: entriesOf(form.excluded, before.excludedPaths),
  };
  if (form.composites.length > 0) policy.compositeIndexes = form.composites;
  else if (Array.isArray(before.compositeIndexes)) delete policy.compositeIndexes;
  if ((form.mode === 'none') !== (before.automatic === false)) {
    policy.automatic = form.mode !== 'none';
  }
  return JSON.stringify(policy, null, 2);
}

const NAMES = {
  included: DEFAULT_POLICY.includedPaths.map(({ path }) => path),
  excluded: DEFAULT_POLICY.excludedPaths.map(({ path }) => path),
};

/** Changes the mode. None removes all paths; another one restores the default if there are none. */
export function withMode(form: PolicyForm, mode: Mode): PolicyForm {
  if (mode === 'none') return { mode, included: [], excluded: [], composites: [] };
  const isBare = form.included.length === 0 && form.excluded.length === 0;
  return isBare ? { ...form, mode, ...NAMES } : { ...form, mode };
}

const PART = /^\/(?:\[\]|"[^"]*"|[^"*?[\]{}/]+)/;

/** Returns the error of a path; null: none found. A composite index path must end at a scalar. */
export function pathProblem(path: string, isComposite = false): string | null {
  if (path === '') return `Enter a path like /address/city${isComposite ? '' : '/?'}.`;
  if (!path.startsWith('/')) return 'A path begins with “/”.';
  if (path.includes('/[]/{')) return null;
  if (isComposite && /\/[?*]$|\[\]/.test(path)) {
    return 'A path of a composite index ends with a name: without /?, /* and [].';
  }
  let rest = path;
  while (rest !== '' && rest !== '/?' && rest !== '/*' && rest !== '/') {
    const part = PART.exec(rest)?.[0];
    if (part === undefined) {
      return 'Each part is a name, a name in ", or []; /? or /* only at the end.';
    }
    rest = rest.slice(part.length);
  }
  return rest === '/' && path !== '/' ? 'A path does not end with “/”.' : null;
}
