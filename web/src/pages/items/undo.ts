// Taking back what was done to one item, from the corner: it is put back as it was, unless it has been
// changed since. What was changed twice is put back in two steps, the newer one first.
import { words } from '../../api/http';
import { titleOf } from '../../pure/columns/columns';
import { valueAtPath } from '../../pure/values/path';
import { type Action, say, toast, topicOf, warn } from '../../state/log';
import type { Target } from '../../state/place';
import type { Changed, Opened, Row, Source } from './source';

/** How long it is offered. */
const SECONDS = 20;

export interface UndoEvents {
  target: Target;
  /** The row was read again, or changed. */
  onRead: (row: Row) => void;
  onGone: (key: string) => void;
}

/** Runs `undo` once; what it holds, which may be megabytes, is let go when it is offered no more. */
function undoing(undo: () => Promise<void>): Action {
  let held: (() => Promise<void>) | null = undo;
  setTimeout(() => {
    held = null;
  }, SECONDS * 1000);
  const onChoose = () =>
    void held?.().catch((error: unknown) => say({ kind: 'failed', text: words(error) }));
  return { label: 'Undo', onChoose, seconds: SECONDS, minor: true };
}

/** Says what came of it; `what`: "n of item one". */
function came(what: string, noun: string, row: Row, changed: Changed, events: UndoEvents): void {
  if ('done' in changed) {
    events.onRead(changed.done.row);
    toast({ text: `Put back ${what}`, topic: topicOf('edit', events.target) });
  } else if ('theirs' in changed) {
    events.onRead(changed.theirs.row);
    warn(`Not put back: ${what}. It has been changed since, and the newest is shown now.`);
  } else {
    events.onGone(row.key);
    warn(`Not put back: ${what}. The ${noun} is not there any more.`);
  }
}

/** An item that was saved, and its text before. */
export function undoSave(
  source: Source,
  saved: Opened,
  before: string,
  events: UndoEvents,
): Action {
  return undoing(async () => {
    const { row } = saved;
    const found = await source.open(row);
    // Not by its version: whoever has put back what was saved later has written this once more.
    const changed: Changed =
      found === null
        ? { gone: true }
        : found.text === saved.text
          ? await source.replace(found, before)
          : { theirs: found };
    came(`${source.noun} ${row.name}`, source.noun, row, changed, events);
  });
}

/** A field that was changed: what it held, and what was written. */
export interface FieldChange {
  row: Row;
  parts: readonly string[];
  before: unknown;
  value: unknown;
}

/** Other fields may have changed meanwhile. */
export function undoField(source: Source, about: FieldChange, events: UndoEvents): Action {
  const { row, parts, before, value } = about;
  return undoing(async () => {
    const found = await source.open(row);
    const isOurs =
      found !== null && source.whole(valueAtPath(found.row.value, parts)) === source.whole(value);
    const changed: Changed =
      found === null
        ? { gone: true }
        : isOurs
          ? await source.setField(found, parts, before)
          : { theirs: found };
    const what = `${titleOf(parts.join('.'))} of ${row.name}`;
    came(what, source.noun, row, changed, events);
  });
}
