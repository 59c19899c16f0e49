// The item that is open, or about to be made: what was read, what was typed, and what came of it.
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
  /** Its newest is shown, which somebody else has made. */
  onRead: (row: Row) => void;
  /** It was found not to be there any more. */
  onGone: (key: string) => void;
  /** What a save is taken back with, also when the pane has been closed. */
  onUndo: UndoEvents;
}

interface State {
  /** As last read; null: it is new, or not read yet. */
  opened: Opened | null;
  reading: boolean;
  /** It is not there any more. */
  gone: boolean;
  /** What is compared and merged with what was typed. */
  theirs: Opened | null;
  /** It was changed elsewhere to this, while something was typed. */
  newer: Opened | null;
  /** It was changed elsewhere to what is shown. */
  isRenewed: boolean;
  failure: string | null;
  /** The last request, if no answer came to it. */
  lost: Lost | null;
  said: string;
  busy: boolean;
}

export interface Item extends State {
  text: string;
  /** Of a new item, what is selected in the text at first; null: it is not new. */
  start: { from: number; to: number } | null;
  dirty: boolean;
  setText: (text: string) => void;
  save: () => void;
  /** Waits no longer for the request that is under way. */
  stop: () => void;
  /** Makes an item of the text, whatever was open. */
  createAnew: () => void;
  discard: () => void;
  setTtl: (seconds: number) => void;
  touch: () => void;
  overwrite: () => void;
  /** Saves a text that was made of mine and theirs. */
  saveMerged: (merged: string) => void;
  takeTheirs: () => void;
  /** Shows what differs from what was typed. */
  compare: () => void;
  goOn: () => void;
}

/** Nothing is open between what was typed and what is kept. */
const SETTLED = { theirs: null, newer: null, failure: null, lost: null };

/** Why a text cannot be sent, and whether that stands below the editor already; null: it can. */
function wrong(source: Source, text: string, opened: Opened | null) {
  const large = tooLarge(source, text);
  if (large !== null) return { why: large, isSaid: true };
  const { error } = source.check(text, opened);
  if (error === null) return null;
  const why = `Line ${lineOf(text, error.at)}: ${error.message}`;
  return { why, isSaid: text.length <= CHECKED_CHARACTERS };
}

/** Texts of which white space is the larger part go without it. */
function sent(source: Source, text: string): string {
  return source.language === 'json' && text.length > source.largest.bytes / 2
    ? compactJson(text)
    : text;
}

/** Whether an item holds what a text says, however both are written. */
function isSame(source: Source, text: string, { text: held }: Opened): boolean {
  const merged = mergeTexts(source.language, [held, held, text], new Map());
  return 'differences' in merged && merged.differences.length === 0;
}

/** An item that was read while a draft of it is there: of now, or kept from before a reload. */
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
  /** The text of a new item that is made like another one; null: it is not. */
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
  // One id for as long as the pane is open, another one for the next new item.
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
  /** Beside what was typed stands what it was made on, so that after a reload it is known what others have
   * done meanwhile. */
  const setDraft = (typed: string | null, on = opened) => {
    putDraft(typed);
    const base = baseOf(name);
    if (typed === null || on === null) writeDraft(base, null);
    // Both may be megabytes, and this is done with each letter: the base changes only here.
    else if (draft === null || on !== opened) writeDraft(base, on.text);
  };
  const now = useRef({ dirty, text, name, row: opened?.row ?? row });
  useEffect(() => {
    now.current = { dirty, text, name, row: opened?.row ?? row };
  });

  // Read when it is opened, and again when the collection's settings have changed.
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

  // Of a server that answers again nothing is said that it does not.
  const changes = useServerChanges();
  useEffect(() => {
    setState((known) => (known.failure === SILENT ? { ...known, failure: null } : known));
  }, [changes]);

  /** Shows what somebody else has made of it. */
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
    // As it is kept now: a letter that was just typed may not have been drawn yet.
    const typed = readDraft(name);
    if (typed === null || typed === opened?.text) renew(found.theirs);
    else if (state.lost?.asked === 'save' && isSame(source, typed, found.theirs))
      done('updated', found.theirs, opened);
    else put({ newer: found.theirs });
  });

  // What was typed was given up.
  useEffect(() => {
    if (state.newer !== null && state.theirs === null && !dirty) renew(state.newer);
  });

  const underWay = useRef<AbortController | null>(null);
  /** What a new item is called whose text has no id, also when it is sent again. */
  const fresh = useRef<unknown>(null);
  /** One request at a time; its failure is said, and nothing that was typed is touched. */
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
    // What was typed while the request was under way is not saved, and stays.
    if (now.current.text === text) setDraft(null);
    else setDraft(now.current.text, found);
    // The console says it to who cannot see the page, once.
    put({ opened: found, gone: false, ...SETTLED, isRenewed: false, said: '' });
    events.onSaved(found.row, over?.row.key);
  };
  /** Of a change that was conditional. */
  const came = (changed: Changed, over: Opened, typed: boolean) => {
    if ('done' in changed) done('updated', changed.done, over);
    else if ('gone' in changed) {
      put({ gone: true, theirs: null });
      events.onGone(key);
    } else if (typed) put({ theirs: changed.theirs });
    else {
      put({
        opened: changed.theirs,
        failure: `The ${source.noun} was changed by someone else meanwhile, and this was not done. The newest is shown now.`,
      });
      events.onSaved(changed.theirs.row);
    }
  };
  /** What is said below the editor is said once, and again to who cannot see it. */
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
        // One whose answer was lost may have been made all the same.
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
            failure: `The ${source.noun} was created and expired at once: its instant lies in the past.`,
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
      // A save whose answer was lost may have been done all the same.
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
      // It is saved on the version that it was typed on, so that changes made since are merged.
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
  // What was kept of an earlier one is gone on with at its end.
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
    // What is saved next is still on top of what was read, so that it is asked again.
    goOn: () => {
      put({ theirs: null, newer: state.theirs });
      focusEditor('.items-pane');
    },
  };
}
