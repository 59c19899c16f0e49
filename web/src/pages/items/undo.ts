// Undo of changes of one item by a notice: restores the former state unless it was changed since.
// After two changes it takes two steps, newest first.
import { words } from '../../api/http';
import { titleOf } from '../../pure/columns/columns';
import { valueAtPath } from '../../pure/values/path';
import { type Action, say, toast, topicOf, warn } from '../../state/log';
import type { Target } from '../../state/place';
import type { Changed, Opened, Row, Source } from './source';

const SECONDS = 20;

export interface UndoEvents {
  target: Target;
  /** Called when the row was reloaded or changed. */
  onRead: (row: Row) => void;
  onGone: (key: string) => void;
}

/** Runs `undo` once; its captured state, possibly megabytes, is released when the offer ends. */
function undoing(undo: () => Promise<void>): Action {
  let held: (() => Promise<void>) | null = undo;
  setTimeout(() => {
    held = null;
  }, SECONDS * 1000);
  const onChoose = () =>
    void held?.().catch((error: unknown) => say({ kind: 'failed', text: words(error) }));
  return { label: 'Undo', onChoose, seconds: SECONDS, minor: true };
}

/** Reports the outcome; `what`: "n of item one". */
function came(what: string, noun: string, row: Row, changed: Changed, events: UndoEvents): void {
  if ('done' in changed) {
    events.onRead(changed.done.row);
    toast({ text: `Restored ${what}`, topic: topicOf('edit', events.target) });
  } else if ('theirs' in changed) {
    events.onRead(changed.theirs.row);
    warn(`Not restored: ${what}. It has changed since; showing the latest version.`);
  } else {
    events.onGone(row.key);
    warn(`Not restored: ${what}. The ${noun} no longer exists.`);
  }
}

/** Returns the undo of a save, given the text before. */
export function undoSave(
  source: Source,
  saved: Opened,
  before: string,
  events: UndoEvents,
): Action {
  return undoing(async () => {
    const { row } = saved;
    const found = await source.open(row);
    // Compares texts instead of versions: undoing a later save has rewritten the item.
    const changed: Changed =
      found === null
        ? { gone: true }
        : found.text === saved.text
          ? await source.replace(found, before)
          : { theirs: found };
    came(`${source.noun} ${row.name}`, source.noun, row, changed, events);
  });
}

/** A changed field with its former and its written value. */
export interface FieldChange {
  row: Row;
  parts: readonly string[];
  before: unknown;
  value: unknown;
}

/** Returns the undo of a field change; other fields may have changed since. */
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
