// State of a container's settings: definition, throughput, their unsaved edits, and saving. Renders
// nothing.
import { useCallback, useState } from 'react';
import { ApiError, words } from '../../api/http';
import {
  findOffer,
  readContainer,
  readDatabase,
  replaceContainer,
  replaceOffer,
} from '../../api/nosql';
import { useDraft } from '../../state/draft';
import { say } from '../../state/log';
import type { Target } from '../../state/place';
import { type Base, type Changeable, type Edits, type Judged, judge } from './container/definition';
import type { Outcome, Saving } from './frame/saving';
import { type Loaded, useLoaded } from './frame/useLoaded';
import { readThroughput, withThroughput } from './throughput/throughput';
import type { ExpiryGate } from './ttl/useExpiryGate';

export interface Container extends Base {
  /** Whether the offer belongs to the database. */
  shared: boolean;
  /** Why the offer could not be loaded. */
  offerFailure: string | null;
}

type Offered = Omit<Container, 'record'>;

async function loadOffer(database: string, rid: string): Promise<Offered> {
  try {
    const own = await findOffer(rid);
    if (own !== null) return { offer: own, shared: false, offerFailure: null };
    const offer = await findOffer((await readDatabase(database))._rid);
    return { offer, shared: offer !== null, offerFailure: null };
  } catch (error) {
    return { offer: null, shared: false, offerFailure: words(error) };
  }
}

async function load({ database, collection }: Target): Promise<Container> {
  const record = await readContainer(database, collection);
  return { record, ...(await loadOffer(database, record._rid)) };
}

interface Kept {
  base: Container;
  edits: Edits;
}

function parse(text: string | null): Kept | null {
  try {
    const kept = (text === null ? null : JSON.parse(text)) as Kept | null;
    return kept !== null && typeof kept.base.record._etag === 'string' ? kept : null;
  } catch {
    return null;
  }
}

const PARTS: Record<Changeable, keyof Edits> = {
  ttl: 'ttl',
  indexing: 'policy',
  throughput: 'throughput',
  'change-feed': 'feed',
};

/** Returns the edits that change something. */
function effective(edits: Edits, changed: readonly Changeable[]): Edits {
  const parts = changed.map((section) => PARTS[section]);
  return Object.fromEntries(
    Object.entries(edits).filter(([part]) => parts.some((p) => p === part)),
  );
}

function sameVersion(a: Base, b: Base): boolean {
  return a.record._etag === b.record._etag && a.offer?._etag === b.offer?._etag;
}

export interface ContainerSettings extends Saving<Container> {
  loaded: Loaded<Container>;
  base: Container;
  edits: Edits;
  judged: Judged;
  edit: (change: Edits) => void;
}

/** Saves the definition, then the throughput; returns the new state. */
async function put(
  target: Target,
  base: Container,
  judged: Judged,
  done: (now: Container) => void,
) {
  let now = base;
  if (judged.recordChanged) {
    const record = await replaceContainer(target.database, judged.record, base.record._etag);
    now = { ...now, record };
    done(now);
  }
  const wanted = judged.throughput === null ? null : readThroughput(judged.throughput);
  if (wanted !== null && 'value' in wanted && base.offer !== null) {
    const offer = await replaceOffer(withThroughput(base.offer, wanted.value), base.offer._etag);
    now = { ...now, offer };
    done(now);
  }
}

function useSaving(target: Target, gate: ExpiryGate, loaded: Loaded<Container>) {
  const [saving, setSaving] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [conflict, setConflict] = useState<Container | null>(null);

  const attempt = async (base: Container, edits: Edits, keep: (kept: Kept | null) => void) => {
    const judged = judge(base, edits);
    const killing = judged.changed.includes('ttl') && judged.ttl !== undefined;
    setSaving(true);
    setOutcome(null);
    try {
      if (killing && judged.ttl !== undefined && !(await gate.pass(judged.ttl))) return;
      await put(target, base, judged, (now) => {
        loaded.put(now);
        keep({ base: now, edits });
      });
      keep(null);
      const text = `Successfully updated container ${target.collection}`;
      say({ kind: 'done', text });
      setOutcome({ good: true, text });
    } catch (error) {
      if (loaded.notice(error)) return;
      if (error instanceof ApiError && error.status === 412) setConflict(await load(target));
      else setOutcome({ good: false, text: `Not saved: ${words(error)}` });
    } finally {
      setSaving(false);
    }
  };
  return { saving, outcome, setOutcome, conflict, setConflict, attempt };
}

/** `null` until the container is loaded. */
export function useContainer(
  target: Target,
  gate: ExpiryGate,
): { loaded: Loaded<Container>; settings: ContainerSettings | null } {
  const loaded = useLoaded(useCallback(() => load(target), [target]));
  const [text, setText] = useDraft(
    `settings:nosql:${JSON.stringify([target.database, target.collection])}`,
  );
  const { saving, outcome, setOutcome, conflict, setConflict, attempt } = useSaving(
    target,
    gate,
    loaded,
  );
  const kept = parse(text);
  const keep = (next: Kept | null) => setText(next === null ? null : JSON.stringify(next));
  const current = loaded.value;
  if (current === null) return { loaded, settings: null };
  const held =
    kept !== null &&
    (sameVersion(kept.base, current) || judge(kept.base, kept.edits).changed.length > 0)
      ? kept
      : { base: current, edits: {} };
  const { base, edits } = held;
  const judged = judge(base, edits);
  const rebased = (theirs: Container): Kept => ({
    base: theirs,
    edits: effective(edits, judged.changed),
  });
  const settings: ContainerSettings = {
    loaded,
    base,
    edits,
    judged,
    saving,
    outcome,
    conflict,
    stale: !sameVersion(base, current),
    edit: (change) => {
      setOutcome(null);
      keep({ base, edits: { ...edits, ...change } });
    },
    discard: () => {
      setOutcome(null);
      keep(null);
    },
    save: () => void attempt(base, edits, keep),
    compare: () => setConflict(current),
    overwrite: () => {
      if (conflict === null) return;
      const next = rebased(conflict);
      setConflict(null);
      loaded.put(conflict);
      keep(next);
      void attempt(next.base, next.edits, keep);
    },
    takeTheirs: () => {
      if (conflict !== null) loaded.put(conflict);
      setConflict(null);
      keep(null);
    },
    // The next save is still based on the version read, so that it conflicts again.
    goOn: () => setConflict(null),
  };
  return { loaded, settings };
}
