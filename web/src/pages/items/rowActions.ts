// Actions on one row of the grid: copy, duplicate, change a field.
import { UUID } from 'bson';
import { words } from '../../api/http';
import { EXPIRES, titleOf } from '../../pure/columns/columns';
import { shortened } from '../../pure/columns/shorten';
import { partsOfPath, valueAtPath } from '../../pure/values/path';
import { SYSTEM_FIELDS } from '../../pure/values/system';
import { say, toast, topicOf } from '../../state/log';
import { copyText } from '../../ui/clipboard';
import { instant } from './expires';
import { whyNotInCell } from './grid/cellValue';
import type { SetField } from './grid/useCellEdit';
import { READ_ONLY, type Row, type Source } from './source';
import { type UndoEvents, undoField } from './undo';

export interface RowActions {
  copy: (row: Row, column: string | null) => void;
  duplicate: (row: Row) => void;
  setField: SetField;
  whyNotEdit: (row: Row, column: string) => string | null;
}

export interface RowEvents extends UndoEvents {
  writable: boolean;
  /** Shows a new item with this text. */
  onCopy: (text: string) => void;
}

/** Maximum characters of a value in a notice. */
const MOST_SHOWN = 40;

const failed = (text: string) => say({ kind: 'failed', text });

/** Returns the full text of a cell. */
async function cellText(source: Source, row: Row, column: string): Promise<string> {
  if (column === EXPIRES) {
    const { expiresAtMs, reason } = row.expiry;
    return expiresAtMs === null ? (reason ?? '') : `${instant(expiresAtMs)} UTC`;
  }
  if (column === source.idField) return row.name;
  const [found] = await source.complete([row]);
  const value = valueAtPath((found ?? row).value, partsOfPath(column));
  return typeof value === 'string' ? value : source.whole(value);
}

function whyNotEdit(source: Source, writable: boolean, row: Row, column: string): string | null {
  if (!writable) return READ_ONLY;
  if (column === EXPIRES) return 'Open the item to change its time left.';
  const parts = partsOfPath(column);
  const isKey = source.keys.some((key) => key === `/${parts.join('/')}`);
  if (column === source.idField || isKey)
    return `${titleOf(column)} identifies the ${source.noun} and cannot be changed.`;
  if (source.api === 'nosql' && SYSTEM_FIELDS.has(column)) return 'The server sets it.';
  if (row.isCut === true) return `The ${source.noun} is large: open it to change it.`;
  return whyNotInCell(valueAtPath(row.value, parts), parts, source.api);
}

export function rowActions(source: Source, events: RowEvents): RowActions {
  const copy = async (row: Row, column: string | null) => {
    const text = column === null ? await source.json(row) : await cellText(source, row, column);
    const what = column === null ? `${source.noun} ${row.name} as JSON` : titleOf(column);
    if (await copyText(text))
      toast({ text: `Copied ${what}`, topic: topicOf('copy', events.target) });
    else failed(`${what} could not be copied: the browser did not allow it.`);
  };
  const duplicate = async (row: Row) => {
    const text = await source.copyOf(row, new UUID().toHexString());
    if (text === null) events.onGone(row.key);
    else events.onCopy(text);
  };
  const setField: SetField = async (row, parts, value) => {
    const before = valueAtPath(row.value, parts);
    const changed = await source.setField(source.asListed(row), parts, value);
    if ('gone' in changed) {
      events.onGone(row.key);
      return { error: `The ${source.noun} no longer exists.`, again: false };
    }
    if ('theirs' in changed) {
      events.onRead(changed.theirs.row);
      const error = 'Someone else changed it first. Nothing was saved; showing the latest version.';
      return { error, again: true };
    }
    events.onRead(changed.done.row);
    const about = { row: changed.done.row, parts, before, value };
    const shown = (one: unknown) =>
      one === undefined ? 'nothing' : shortened(source.shown(one), MOST_SHOWN);
    toast({
      text: `Changed ${titleOf(parts.join('.'))} of ${row.name}: ${shown(before)} → ${shown(value)}`,
      action: undoField(source, about, events),
      topic: topicOf('edit', events.target),
    });
    return { row: changed.done.row };
  };
  const told = (work: Promise<void>) => void work.catch((error) => failed(words(error)));
  return {
    copy: (row, column) => told(copy(row, column)),
    duplicate: (row) => told(duplicate(row)),
    setField,
    whyNotEdit: (row, column) => whyNotEdit(source, events.writable, row, column),
  };
}
