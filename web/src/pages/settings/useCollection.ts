// State of a MongoDB collection's settings: indexes, the default TTL that one of them defines, its
// unsaved edit, and saving. Renders nothing.
import { useCallback, useState } from 'react';
import type { DefaultTtl } from '../../api/admin';
import { words } from '../../api/http';
import { CommandError, type IndexRecord, listIndexes, run } from '../../api/mongo';
import { draftOf, readDraft, type TtlDraft } from '../../pure/ttl/input';
import { useDraft } from '../../state/draft';
import { say } from '../../state/log';
import type { Target } from '../../state/place';
import type { Outcome, Saving } from './frame/saving';
import { type Loaded, useLoaded } from './frame/useLoaded';
import { commandsFor, defaultOf } from './indexes/ttlIndex';
import type { ExpiryGate } from './ttl/useExpiryGate';

interface Kept {
  /** The default when editing started. */
  base: DefaultTtl;
  ttl: TtlDraft;
}

/** A conflicting default set by another user. */
interface Theirs {
  theirs: DefaultTtl;
}

export interface CollectionSettings extends Saving<Theirs> {
  indexes: readonly IndexRecord[];
  base: DefaultTtl;
  draft: TtlDraft;
  changed: boolean;
  /** The requested default; undefined: invalid. */
  wanted: DefaultTtl | undefined;
  edit: (ttl: TtlDraft) => void;
}

/** Returns whether an error means a concurrent change: conflicting or missing index. */
export function somebodyWasFaster(error: unknown): boolean {
  return error instanceof CommandError && [27, 85].includes(error.number);
}

function parse(text: string | null): Kept | null {
  try {
    const kept = (text === null ? null : JSON.parse(text)) as Kept | null;
    return typeof kept?.ttl.text === 'string' ? kept : null;
  } catch {
    return null;
  }
}

function useSaving(target: Target, gate: ExpiryGate, loaded: Loaded<IndexRecord[]>) {
  const [saving, setSaving] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [conflict, setConflict] = useState<{ theirs: DefaultTtl } | null>(null);
  const { database, collection } = target;

  const put = async (base: DefaultTtl, value: DefaultTtl): Promise<boolean> => {
    const indexes = await listIndexes(database, collection);
    const theirs = defaultOf(indexes);
    loaded.put(indexes);
    if (theirs !== base) {
      setConflict({ theirs });
      return false;
    }
    for (const command of commandsFor(collection, indexes, value)) await run(database, command);
    return true;
  };
  const attempt = async (base: DefaultTtl, value: DefaultTtl, saved: () => void) => {
    setSaving(true);
    setOutcome(null);
    try {
      if (!(await gate.pass(value)) || !(await put(base, value))) return;
      const text = `Successfully updated collection ${collection}`;
      await loaded.reload();
      saved();
      say({ kind: 'done', text });
      setOutcome({ good: true, text });
    } catch (error) {
      if (loaded.notice(error)) return;
      const why = somebodyWasFaster(error)
        ? 'Not saved: someone else has changed this index. The current state has been loaded. '
        : 'Not saved: ';
      setOutcome({ good: false, text: why + words(error) });
      await loaded.reload();
    } finally {
      setSaving(false);
    }
  };
  return { saving, outcome, setOutcome, conflict, setConflict, attempt };
}

/** `null` until the indexes are loaded. */
export function useCollection(
  target: Target,
  gate: ExpiryGate,
): { loaded: Loaded<IndexRecord[]>; settings: CollectionSettings | null } {
  const { database, collection } = target;
  const loaded = useLoaded(
    useCallback(() => listIndexes(database, collection), [database, collection]),
  );
  const [text, setText] = useDraft(`settings:mongo:${JSON.stringify([database, collection])}`);
  const { saving, outcome, setOutcome, conflict, setConflict, attempt } = useSaving(
    target,
    gate,
    loaded,
  );
  const indexes = loaded.value;
  if (indexes === null) return { loaded, settings: null };
  const keep = (next: Kept | null) => setText(next === null ? null : JSON.stringify(next));
  const current = defaultOf(indexes);
  const wantedBy = (draft: TtlDraft) => {
    const read = readDraft(draft);
    return 'value' in read ? read.value : undefined;
  };
  const found = parse(text);
  const kept = found !== null && wantedBy(found.ttl) !== found.base ? found : null;
  const base = kept?.base ?? current;
  const draft = kept?.ttl ?? (found?.base === current ? found.ttl : draftOf(current));
  const wanted = wantedBy(draft);
  const attemptFrom = (from: DefaultTtl) => {
    if (wanted !== undefined) void attempt(from, wanted, () => keep(null));
  };
  const settings: CollectionSettings = {
    indexes,
    base,
    draft,
    changed: wanted !== base,
    wanted,
    saving,
    outcome,
    conflict,
    stale: base !== current,
    edit: (ttl) => {
      setOutcome(null);
      keep({ base, ttl });
    },
    discard: () => {
      setOutcome(null);
      keep(null);
    },
    save: () => attemptFrom(base),
    compare: () => setConflict({ theirs: current }),
    overwrite: () => {
      if (conflict === null) return;
      keep({ base: conflict.theirs, ttl: draft });
      setConflict(null);
      attemptFrom(conflict.theirs);
    },
    takeTheirs: () => {
      setConflict(null);
      keep(null);
    },
    // The next save is still based on the version read, so that it conflicts again.
    goOn: () => setConflict(null),
  };
  return { loaded, settings };
}
