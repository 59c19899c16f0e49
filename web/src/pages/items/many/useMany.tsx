// Bulk changes from the list: the confirmation, and the effect on the list.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { counted } from '../../../pure/figures/amount';
import { type Action, say, toast, topicOf, warn } from '../../../state/log';
import type { Target } from '../../../state/place';
import { askAgain, server } from '../../../state/server';
import { beginWork } from '../../../state/works';
import type { Row, Source } from '../source';
import type { Rows } from '../useRows';
import { hide, unhide } from './bin';
import { type Asked, ManyDialog } from './ManyDialog';
import { type Act, KEPT_SECONDS, MOST_UNDONE, type Outcome, type Pair } from './many';
import { restore } from './run';
import { keptWords, outcomeWords } from './words';

export interface ManyEvents {
  rows: Rows;
  refresh: () => void;
  /** Called with rows that left the list. */
  onDeleted: (keys: ReadonlySet<string>) => void;
}

export interface ManyActions {
  ask: (kind: Act['kind'], rows: readonly Row[] | null) => void;
  dialog: ReactNode;
}

/** Restoring more items than this may take seconds, so progress is shown. */
const SHOWN = 100;

/** Deletions have a topic of their own. */
const topicFor = (act: Act, target: Target) =>
  topicOf(act.kind === 'delete' ? 'delete' : 'edit', target);

const keysOf = (pairs: readonly Pair[]) => new Set(pairs.map(({ before }) => before.key));

/** Restores items, and shows the progress on every page. */
async function putBack(source: Source, act: Act, pairs: readonly Pair[]): Promise<Outcome> {
  if (pairs.length <= SHOWN) return restore(source, act, pairs, () => {});
  const text = `Restoring ${counted(pairs.length, source.noun)}`;
  say({ kind: 'note', text: `${text}…` });
  const work = beginWork(text, pairs.length);
  try {
    return await restore(source, act, pairs, work.reach);
  } finally {
    work.end();
  }
}

const after = (pairs: readonly Pair[]) =>
  pairs.flatMap(({ after: now }) => (now === null ? [] : [now]));

export function useMany(
  target: Target,
  source: Source | null,
  filter: string,
  events: ManyEvents,
): ManyActions {
  const [asked, setAsked] = useState<Asked | null>(null);
  const { rows, refresh, onDeleted } = events;
  const isHere = useRef(false);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  const undo = async (about: Source, act: Act, pairs: readonly Pair[]) => {
    const topic = topicFor(act, target);
    const outcome = await putBack(about, act, pairs);
    unhide(target, keysOf(outcome.done));
    // If the list has been left since, the current one is a new instance.
    if (isHere.current) {
      rows.renew(after(outcome.done));
      refresh();
    } else askAgain();
    const lost = outcome.gone.length + outcome.theirs.length + outcome.failed.count;
    if (lost === 0) toast({ text: `Restored ${counted(outcome.done.length, about.noun)}`, topic });
    else {
      warn(outcomeWords(about, 'back', outcome));
    }
  };
  const undoing = (
    about: Source,
    act: Act,
    pairs: readonly Pair[],
    seconds = KEPT_SECONDS,
  ): Action => ({
    label: 'Undo',
    onChoose: () => {
      undo(about, act, pairs).catch((error) => say({ kind: 'failed', text: words(error) }));
    },
    seconds,
  });
  const deleted = (
    about: Source,
    { done, gone }: Outcome,
    seconds: number | null,
    text: string,
  ) => {
    const keys = new Set([...keysOf(done), ...gone]);
    const topic = topicOf('delete', target);
    if (seconds === null) {
      rows.removeAll(keys);
      toast({ text, topic });
    } else {
      rows.removeAll(new Set(gone));
      const now = after(done);
      hide(
        target,
        now.map((row) => [row.key, row.expiry.expiresAtMs ?? 0]),
      );
      rows.renew(now);
      toast({
        text: `${text}: permanently deleted ${keptWords(seconds, server.get().status?.clock.mode === 'manual')}`,
        action: undoing(about, { kind: 'delete' }, done, seconds),
        topic,
      });
    }
    onDeleted(keys);
  };
  const done = (about: Source, act: Act, outcome: Outcome, seconds: number | null) => {
    const text = outcomeWords(about, act.kind, outcome);
    if (act.kind === 'delete') deleted(about, outcome, seconds, text);
    else {
      rows.removeAll(new Set(outcome.gone));
      rows.renew(after(outcome.done));
      const [n, isField] = [outcome.done.length, act.kind === 'field'];
      const topic = topicFor(act, target);
      if (isField && n > 0 && n <= MOST_UNDONE)
        toast({ text, topic, action: undoing(about, act, outcome.done) });
      else toast({ text, topic });
    }
    if (outcome.failed.count > 0) say({ kind: 'failed', text });
    refresh();
  };
  return {
    ask: (kind, some) => setAsked({ kind, rows: some, filter }),
    dialog: asked !== null && source !== null && (
      <ManyDialog
        target={target}
        source={source}
        asked={asked}
        loaded={rows.rows}
        onDone={(act, outcome, seconds) => done(source, act, outcome, seconds)}
        onClose={() => setAsked(null)}
      />
    ),
  };
}
