// State of the open or new item: the version read, the draft, and outcomes of requests.
import { UUID } from 'bson';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { SILENT, words } from '../../api/http';
import { compactJson, lineOf } from '../../pure/json/tree';
import { mergeTexts } from '../../pure/merging/dialects';
import { readDraft, useDraft, writeDraft } from '../../state/draft';
import { toast, topicOf } from '../../state/log';
import type { Target } from '../../state/place';
import { useLeaveGuard } from '../../state/router';
import { databaseNow, server, useServerChanges } from '../../state/server';
import { focusEditor } from '../../ui/focusEditor';
import { undoDiscard } from './discard';
import { baseOf, draftOf } from './drafts';
import { type Asked, type Lost, lostOf } from './lost';
import type { Changed, Opened, Row, Source } from './source';
import { CHECKED_CHARACTERS, tooLarge } from './textSize';
import { type UndoEvents, undoSave } from './undo';
import { useNewer } from './useNewer';

export interface ItemEvents {
  onSaved: (row: Row, insteadOf?: string) => void;
  /** Called when a newer version by others is shown. */
  onRead: (row: Row) => void;
  /** Called when the item was found deleted. */
  onGone: (key: string) => void;
  /** Undo of a save, which works even after the pane was closed. */
  onUndo: UndoEvents;
}

interface State {
  /** The version last read; null: a new item, or not read yet. */
  opened: Opened | null;
  reading: boolean;
  gone: boolean;
  /** The conflicting version, to be merged with the draft. */
  theirs: Opened | null;
  /** A newer version that arrived while there is a draft. */
  newer: Opened | null;
  /** Whether the shown version was changed by others. */
  isRenewed: boolean;
  failure: string | null;
  /** The last request, if it got no response. */
  lost: Lost | null;
  said: string;
  busy: boolean;
}

export interface Item extends State {
  text: string;
  /** Initial selection in the text of a new item; null: not new. */
  start: { from: number; to: number } | null;
  dirty: boolean;
  setText: (text: string) => void;
  save: () => void;
  /** Stops waiting for the pending request. */
  stop: () => void;
  /** Creates an item from the text, even if another item is open. */
  createAnew: () => void;
  discard: () => void;
  setTtl: (seconds: number) => void;
  touch: () => void;
  overwrite: () => void;
  saveMerged: (merged: string) => void;
  takeTheirs: () => void;
  compare: () => void;
  goOn: () => void;
}

/** State without conflict or error. */
const SETTLED = { theirs: null, newer: null, failure: null, lost: null };

/** Returns why a text cannot be sent, and whether the editor already shows it; null: it can. */
function wrong(source: Source, text: string, opened: Opened | null) {
  const large = tooLarge(source, text);
  if (large !== null) return { why: large, isSaid: true };
  const { error } = source.check(text, opened);
  if (error === null) return null;
  const why = `Line ${lineOf(text, error.at)}: ${error.message}`;
  return { why, isSaid: text.length <= CHECKED_CHARACTERS };
}

/** Returns the text to send; large texts are sent without white space. */
function sent(source: Source, text: string): string {
  return source.language === 'json' && text.length > source.largest.bytes / 2
    ? compactJson(text)
    : text;
}

/** Returns whether an item equals a text up to formatting. */
function isSame(source: Source, text: string, { text: held }: Opened): boolean {
  const merged = mergeTexts(source.language, [held, held, text], new Map());
  return 'differences' in merged && merged.differences.length === 0;
}

/** State after reading an item that has a draft, of this page or from before a reload. */
function goneOnWith(known: State, found: Opened, source: Source, name: string): State {
  const base = readDraft(baseOf(name));
  const isOld = known.opened === null && base !== null && base !== found.text;
  const opened = isOld ? source.withText(found, base) : (known.opened ?? found);
  return { ...known, reading: false, opened, ...(isOld ? { newer: found } : {}) };
}

export function useItem(
  target: Target,
  source: Source,
  row: Row | null,
  /** Initial text of a duplicated item; null: not a duplicate. */
  copy: string | null,
  events: ItemEvents,
): Item {
  const [state, setState] = useState<State>({
    opened: null,
    reading: row !== null,
    gone: false,
    theirs: null,
    newer: null,
    isRenewed: false,
    failure: null,
    lost: null,
    said: '',
    busy: false,
  });
  const put = useCallback(
    (change: Partial<State>) => setState((known) => ({ ...known, ...change })),
    [],
  );
  const { opened } = state;
  // One id while the pane is open, a new one for the next new item.
  const [id] = useState(() => new UUID().toHexString());
  const isNew = row === null && opened === null;
  const key = opened?.row.key ?? row?.key ?? (copy === null ? 'new' : `copy ${id}`);
  const name = draftOf(target, isNew && copy === null ? null : key);
  const [draft, putDraft] = useDraft(name);
  const dirty = draft !== null && draft !== opened?.text;
  useLeaveGuard(dirty);
  const template = useMemo(() => {
    if (row !== null) return null;
    return copy === null ? source.template(id) : { text: copy, from: 0, to: 0 };
  }, [row, copy, source, id]);
  const before = opened?.text ?? template?.text ?? '';
  const text = draft ?? before;
  /** Keeps the edited version with the draft, to detect changes by others after a reload. */
  const setDraft = (typed: string | null, on = opened) => {
    putDraft(typed);
    const base = baseOf(name);
    if (typed === null || on === null) writeDraft(base, null);
    // Both may be megabytes and this runs on every keystroke, so the base is written only when it
    // changes.
    else if (draft === null || on !== opened) writeDraft(base, on.text);
  };
  const now = useRef({ dirty, text, name, row: opened?.row ?? row });
  useEffect(() => {
    now.current = { dirty, text, name, row: opened?.row ?? row };
  });

  // Reads the item when it is opened, and after changes of the collection's settings.
  useEffect(() => {
    const about = now.current.row;
    if (about === null) return;
    let ended = false;
    source.open(about).then(
      (found) => {
        if (ended) return;
        if (found === null) put({ reading: false, gone: true });
        else if (now.current.dirty)
          setState((known) => goneOnWith(known, found, source, now.current.name));
        else put({ reading: false, opened: found, gone: false, newer: null });
      },
      (error: unknown) => {
        if (!ended) put({ reading: false, failure: words(error) });
      },
    );
    return () => {
      ended = true;
    };
  }, [source, put]);

  // Clears the error about an unreachable server when it answers again.
  const changes = useServerChanges();
  useEffect(() => {
    setState((known) => (known.failure === SILENT ? { ...known, failure: null } : known));
  }, [changes]);

  /** Shows a newer version by others. */
  const renew = (newest: Opened) => {
    put({ opened: newest, ...SETTLED, isRenewed: true, said: '' });
    events.onRead(newest.row);
  };
  const isAsked = !state.gone && !state.busy && state.theirs === null;
  useNewer(source, isAsked ? (state.newer ?? opened) : null, (found) => {
    if ('gone' in found) {
      put({ gone: true, newer: null });
      events.onGone(key);
      return;
    }
    // Read the stored draft: the latest keystroke may not be rendered yet.
    const typed = readDraft(name);
    if (typed === null || typed === opened?.text) renew(found.theirs);
    else if (state.lost?.asked === 'save' && isSame(source, typed, found.theirs))
      done('updated', found.theirs, opened);
    else put({ newer: found.theirs });
  });

  // The draft was discarded.
  useEffect(() => {
    if (state.newer !== null && state.theirs === null && !dirty) renew(state.newer);
  });

  const underWay = useRef<AbortController | null>(null);
  /** The generated id of a new item without one, reused on retries. */
  const fresh = useRef<unknown>(null);
  /** Runs one request at a time; shows its failure and keeps the draft. */
  const act = (asked: Asked, work: (signal: AbortSignal) => Promise<void>) => {
    if (state.busy) return;
    underWay.current = new AbortController();
    put({ busy: true, failure: null, lost: null, said: '' });
    work(underWay.current.signal)
      .catch((error: unknown) => {
        const lost = lostOf(error, asked, server.get(), performance.now());
        put(lost === null ? { failure: words(error) } : { lost });
      })
      .finally(() => put({ busy: false }));
  };
  const done = (what: string, found: Opened, over: Opened | null) => {
    const note = `Successfully ${what} ${source.noun} ${found.row.name}`;
    const isOther = over !== null && over.text !== found.text;
    const action = isOther ? undoSave(source, found, over.text, events.onUndo) : null;
    const topic = topicOf(over === null ? 'create' : 'edit', target);
    toast({ text: note, topic, ...(action === null ? {} : { action }) });
    // Text typed during the request is unsaved and stays.
    if (now.current.text === text) setDraft(null);
    else setDraft(now.current.text, found);
    // No message here: screen readers get it from the console.
    put({ opened: found, gone: false, ...SETTLED, isRenewed: false, said: '' });
    events.onSaved(found.row, over?.row.key);
  };
  /** Handles the outcome of a conditional change. */
  const came = (changed: Changed, over: Opened, typed: boolean) => {
    if ('done' in changed) done('updated', changed.done, over);
    else if ('gone' in changed) {
      put({ gone: true, theirs: null });
      events.onGone(key);
    } else if (typed) put({ theirs: changed.theirs });
    else {
      put({
        opened: changed.theirs,
        failure: `The ${source.noun} was changed by someone else first. Nothing was saved; showing the latest version.`,
      });
      events.onSaved(changed.theirs.row);
    }
  };
  /** An error below the editor is not repeated visually, only for screen readers. */
  const refuse = ({ why, isSaid }: { why: string; isSaid: boolean }) =>
    put(isSaid ? { failure: null, said: why } : { failure: why });
  const create = () => {
    const error = wrong(source, text, null);
    if (error !== null) refuse(error);
    else {
      const isAgain = state.lost?.asked === 'save';
      if (!isAgain) fresh.current = source.freshId();
      act('save', async (signal) => {
        const typed = sent(source, text);
        // A creation whose response was lost may have succeeded.
        const before = isAgain ? await source.made(typed, fresh.current, signal) : null;
        if (before !== null && isSame(source, text, before.item)) {
          done('created', before.item, null);
          return;
        }
        if (before?.isOurs === true) {
          const changed = await source.replace(before.item, typed, signal);
          if ('done' in changed) done('created', changed.done, null);
          else came(changed, before.item, true);
          return;
        }
        const made = await source.create(typed, fresh.current, signal);
        if (made !== null) done('created', made, null);
        else
          put({
            failure: `The ${source.noun} was created and expired immediately: its deadline is in the past.`,
          });
      });
    }
  };
  const replace = (over: Opened, by = text) => {
    const error = wrong(source, by, over);
    if (error !== null) {
      refuse({ ...error, isSaid: error.isSaid && by === text });
      return;
    }
    const isAgain = state.lost?.asked === 'save';
    act('save', async (signal) => {
      const changed = await source.replace(over, sent(source, by), signal);
      // A save whose response was lost may have succeeded.
      const wasDone = isAgain && 'theirs' in changed && isSame(source, by, changed.theirs);
      came(wasDone ? { done: changed.theirs } : changed, over, true);
    });
  };
  const save = () => {
    const dead = opened?.row.expiry.expiresAtMs ?? null;
    const died = dead !== null && dead <= (databaseNow() ?? 0);
    const isOther = opened !== null && source.check(text, opened).other !== null;
    if (opened === null || state.gone || died || isOther) create();
    else replace(opened);
  };
  const life = (change: (about: Opened, signal: AbortSignal) => Promise<Changed>) => {
    if (opened !== null)
      act('change', async (signal) => came(await change(opened, signal), opened, false));
  };
  const restore = useRef<((typed: string, on: Opened | null) => void) | null>(null);
  useEffect(() => {
    restore.current = (typed, on) => {
      putDraft(typed);
      writeDraft(baseOf(name), on?.text ?? null);
      // Saves against the version that was edited, so that later changes are merged.
      if (on !== null && on.text !== opened?.text) put({ opened: on, newer: opened });
    };
    return () => {
      restore.current = null;
    };
  });
  const offerBack = (typed: string) => {
    const lost = { name, text: typed, base: opened?.text ?? null };
    const about = opened === null ? `the new ${source.noun}` : `${source.noun} ${opened.row.name}`;
    const action = undoDiscard(lost, () => {
      if (restore.current === null || now.current.name !== name) return false;
      restore.current(typed, opened);
      return true;
    });
    toast({ text: `Discarded the changes to ${about}`, topic: `discard ${name}`, action });
  };
  // A restored draft continues at its end.
  const end = { from: text.length, to: text.length };
  return {
    ...state,
    text,
    start: opened !== null || template === null ? null : text === template.text ? template : end,
    dirty,
    setText: (typed) => setDraft(typed === before ? null : typed),
    save,
    stop: () => underWay.current?.abort(),
    createAnew: create,
    discard: () => {
      if (draft !== null) offerBack(draft);
      setDraft(null);
      const newer = state.theirs ?? state.newer;
      put({ theirs: null, newer, failure: null, lost: null, said: '' });
    },
    setTtl: (seconds) => life((about, signal) => source.setTtl(about, seconds, signal)),
    touch: () => life((about, signal) => source.touch(about, signal)),
    overwrite: () => {
      if (state.theirs !== null) replace(state.theirs);
    },
    saveMerged: (merged) => {
      if (state.theirs !== null) replace(state.theirs, merged);
    },
    takeTheirs: () => {
      setDraft(null);
      put({ opened: state.theirs ?? opened, ...SETTLED });
      if (state.theirs !== null) events.onSaved(state.theirs.row, key);
    },
    compare: () => put({ theirs: state.newer }),
    // The next save is still based on the version read, so that it conflicts again.
    goOn: () => {
      put({ theirs: null, newer: state.theirs });
      focusEditor('.items-pane');
    },
  };
}
