// Client of the admin address: state, clock, expiry, switches, the sample. Types mirror its
// responses.
import type { Target } from '../state/place';
import { askAhead } from './ahead';
import { send } from './http';

export interface Amount {
  documents: number;
  bytes: number;
}
export interface Within {
  hour: Amount;
  day: Amount;
  week: Amount;
}
export interface Unreaped extends Amount {
  oldest_dead_seconds: number;
}
/** `null`: TTL is off; -1: on without a default; n: n seconds. */
export type DefaultTtl = number | null;

export interface Forecast {
  default: DefaultTtl;
  live: Amount;
  dies_within: Within;
  unreaped_estimate: Unreaped;
  /** Number of TTL indexes on a date field; documents expire by them with any default. */
  date_indexes: number;
  exact: boolean;
}
/** A forecast and the collection that it is about. */
export interface CollectionFacts extends Forecast {
  api: 'nosql' | 'mongo';
  database: string;
  collection: string;
}
export interface Preview {
  dies_now: Amount;
  dies_within: Within;
  exact: boolean;
}
export interface Series {
  now_ms: number;
  step_seconds: number;
  steps: Amount[];
  exact: boolean;
}
export interface AccountSeries extends Series {
  collections: number;
  live: Amount;
  unreaped_estimate: Unreaped;
}
/** An index of a container, and the reason why it is kept. */
export interface KeptIndex {
  paths: string[];
  why: 'query' | 'named' | 'composite' | 'unique' | 'policy';
  state: 'ready' | 'building';
  since_seconds: number | null;
  used_seconds: number | null;
  uses: number;
}
export interface Indexes {
  progress: number;
  included: string[];
  excluded: string[];
  unused_days: number | null;
  kept: KeptIndex[];
}
export interface Status {
  status: string;
  version: string;
  clock: Clock;
  /** Present only if this server owns the data. */
  mongo?: { connections: number; cursors: number };
  reaper?: { passes: number; documents: number };
}
export interface Clock {
  mode: 'system' | 'manual';
  now_ms: number;
  offset_ms: number;
  unconfirmed: unknown;
  reap_until_ms: number | null;
  running: boolean;
  keeps_pace: boolean;
}
/** Operations of one kind within a sample; times are estimates. */
export interface Operations {
  api: string;
  name: string;
  count: number;
  p50_us: number;
  p99_us: number;
}
/** Activity of the server during one minute, with the gauges at its end. */
export interface FiguresSample {
  at_ms: number;
  span_ms: number;
  /** The first sample after a start of the server. */
  first: boolean;
  operations: Operations[];
  mongodb_failed: number;
  nosql_failed: number;
  mongodb_connections: number;
  nosql_connections: number;
  cursors: number;
  bytes_in: number;
  bytes_out: number;
  expired: number;
  removed: number;
  backlog: number;
  journal_bytes: number;
  tables_bytes: number;
  garbage_bytes: number;
  temporary_bytes: number;
  memory_bytes: number;
  operations_bytes: number;
}
export interface Figures {
  interval_seconds: number;
  samples: FiguresSample[];
}
export interface Features {
  per_document_ttl: { on: boolean; source: 'default' | 'flag' | 'stored' };
}
export interface Sample {
  database: string;
  nosql: { container: string; items: number } | null;
  mongo: { collection: string; documents: number } | null;
  now_ms: number;
  last_dies_ms: number;
}

const JSON_TYPE = { 'content-type': 'application/json' };

function change(method: string, path: string, body: unknown) {
  return send({ method, path, headers: JSON_TYPE, body: JSON.stringify(body), changes: true });
}

function collection(target: Target): string {
  const [database, name] = [target.database, target.collection].map(encodeURIComponent);
  return `/_ebb/databases/${database}/collections/${name}`;
}

/**
 * Reads the status. Also succeeds while the server is unavailable (503), unless it has no clock
 * yet: then it throws with 503 and the reason. A cluster node that does not own the data asks the
 * owner for its clock.
 */
export async function readStatus(): Promise<Status> {
  const answer = await send({ path: '/status', quiet: true, also: [503], timeoutMs: 5000 });
  const status = answer.json() as Omit<Status, 'clock'> & { clock?: Clock };
  const clock =
    status.clock ??
    ((
      await send({ path: '/_ebb/clock', quiet: true, aside: true, timeoutMs: 5000 })
    ).json() as Clock);
  return { ...status, clock };
}
export async function readMetrics(): Promise<string> {
  return (await send({ path: '/metrics', quiet: true })).text();
}
export async function advanceClock(seconds: number): Promise<void> {
  await change('POST', '/_ebb/clock', { advance_seconds: seconds });
}
export async function setClock(instant: string): Promise<void> {
  await change('POST', '/_ebb/clock', { set: instant });
}
export async function acceptClock(): Promise<void> {
  await change('POST', '/_ebb/clock/accept', {});
}
export async function forecast(target: Target): Promise<Forecast> {
  const path = `${collection(target)}/expiry?door=${target.door}`;
  return (await send({ path, quiet: true })).json() as Forecast;
}
async function collections(query: string): Promise<CollectionFacts[]> {
  const body = (await send({ path: `/_ebb/collections${query}`, quiet: true })).json();
  return (body as { collections: CollectionFacts[] }).collections;
}
/** Returns the collections of both APIs in databases of this name, with their forecasts. */
export function collectionsOf(database: string): Promise<CollectionFacts[]> {
  return collections(`?database=${encodeURIComponent(database)}`);
}
export function allCollections(): Promise<CollectionFacts[]> {
  return collections('');
}
/** Prefetches a forecast before the code of its page has loaded. */
export function aheadOfForecast(target: Target): void {
  askAhead(`${collection(target)}/expiry?door=${target.door}`);
}
/** Returns the indexed paths of a container, and why each is indexed. */
export async function indexes(target: Target): Promise<Indexes> {
  const path = `${collection(target)}/indexes?door=${target.door}`;
  return (await send({ path, quiet: true })).json() as Indexes;
}
/** Returns the effect of another default TTL without changing anything. */
export async function preview(
  target: Target,
  value: DefaultTtl,
  signal?: AbortSignal,
): Promise<Preview> {
  const answer = await send({
    method: 'POST',
    path: `${collection(target)}/expiry/preview?door=${target.door}`,
    headers: JSON_TYPE,
    body: JSON.stringify({ default: value }),
    ...(signal === undefined ? {} : { signal }),
  });
  return answer.json() as Preview;
}
export async function series(target: Target, step: number, steps: number): Promise<Series> {
  const path = `${collection(target)}/expiry/series?door=${target.door}&step=${step}&steps=${steps}`;
  return (await send({ path, quiet: true })).json() as Series;
}
export interface NextToExpire {
  items: { id: string; expires_at_ms: number }[];
  /** Continuation token; null: no further item expires. */
  after: string | null;
}

/** Returns the items of a container that expire next, earliest first. */
export async function nextToExpire(
  target: Target,
  limit: number,
  after: string | null,
  signal: AbortSignal,
): Promise<NextToExpire> {
  const place = after === null ? '' : `&after=${encodeURIComponent(after)}`;
  const path = `${collection(target)}/expiry/next?door=${target.door}&limit=${limit}${place}`;
  return (await send({ path, quiet: true, signal })).json() as NextToExpire;
}
export async function accountSeries(step: number, steps: number): Promise<AccountSeries> {
  const path = `/_ebb/expiry/series?step=${step}&steps=${steps}`;
  return (await send({ path, quiet: true })).json() as AccountSeries;
}
/** Returns the activity of the last day. */
export async function readFigures(): Promise<Figures> {
  return (await send({ path: '/_ebb/figures', quiet: true })).json() as Figures;
}
export async function readFeatures(): Promise<Features> {
  return (await send({ path: '/_ebb/features', quiet: true })).json() as Features;
}
export async function setPerDocumentTtl(on: boolean): Promise<Features> {
  return (await change('PUT', '/_ebb/features', { per_document_ttl: on })).json() as Features;
}
export async function loadSample(): Promise<Sample> {
  return (await change('POST', '/_ebb/quickstart', {})).json() as Sample;
}
