// The location that a URL names: a page, a database, or a view of a collection. Pure; `router.ts`
// connects it to the browser's history.

export type Door = 'nosql' | 'mongo';
export const VIEWS = ['items', 'schema', 'settings', 'query', 'metrics'] as const;
export type View = (typeof VIEWS)[number];

/** A collection or container, identified by its names. */
export interface Target {
  door: Door;
  database: string;
  collection: string;
}

export type Place =
  | { page: 'home' }
  | { page: 'features' }
  | { page: 'metrics' }
  | { page: 'database'; door: Door; database: string }
  | ({ page: 'collection'; view: View } & Target)
  | { page: 'unknown'; path: string };

/** Not `/metrics`, which Prometheus reads. */
const METRICS = 'monitor';

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

/** Parses a URL path. */
export function parsePlace(path: string): Place {
  const unknown: Place = { page: 'unknown', path };
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const [first, database, collection, view, ...rest] = parts;
  if (parts.includes(null) || rest.length > 0) return unknown;
  if (first === undefined) return { page: 'home' };
  if (first === 'features' && database == null) return { page: 'features' };
  if (first === METRICS && database == null) return { page: 'metrics' };
  if ((first !== 'nosql' && first !== 'mongo') || database == null) return unknown;
  if (collection == null) return { page: 'database', door: first, database };
  const shown = VIEWS.find((known) => known === (view ?? 'items'));
  if (shown === undefined) return unknown;
  return { page: 'collection', door: first, database, collection, view: shown };
}

/** Returns the URL path of a place. */
export function pathOf(place: Place): string {
  const join = (...parts: string[]) => `/${parts.map(encodeURIComponent).join('/')}`;
  switch (place.page) {
    case 'home':
      return '/';
    case 'features':
      return join('features');
    case 'metrics':
      return join(METRICS);
    case 'database':
      return join(place.door, place.database);
    case 'collection':
      return join(place.door, place.database, place.collection, place.view);
    case 'unknown':
      return place.path;
  }
}
