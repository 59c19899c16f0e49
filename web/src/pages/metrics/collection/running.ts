// Extracts running operations and open cursors of a collection from `$currentOp`. Pure.
import type { Document } from '../../../api/mongo';
import { printShell } from '../../../pure/shell';
import { isPlainObject } from '../../../pure/values/kind';
import type { SlowOperation } from '../slow/queryOf';

export interface RunningOperation {
  /** The server's operation id. */
  id: string;
  seconds: number;
  client: string;
  /** The command, in the format of a slow operation; its query is null if it writes. */
  asked: SlowOperation;
}

export interface Activity {
  operations: RunningOperation[];
  cursors: { open: number; idle: number };
}

/** Commands that only read. */
const READS: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct']);
/** Commands by which the portal loads this page. */
const OF_THE_PAGE: ReadonlySet<string> = new Set(['collStats']);

const nameOf = (command: Document) => Object.keys(command)[0] ?? '';
const documentOf = (value: unknown): Document => (isPlainObject(value) ? value : {});

/** Returns a running operation; for getMore, with the command that opened the cursor. */
function operationOf(entry: Document, collection: string, database: string): RunningOperation {
  const command = documentOf(entry.command);
  const opened = documentOf(documentOf(entry.cursor).originatingCommand);
  const source = nameOf(command) === 'getMore' && nameOf(opened) !== '' ? opened : command;
  const query = READS.has(nameOf(source)) ? printShell(source, 0) : null;
  const ms = Number(entry.microsecs_running ?? 0) / 1000;
  return {
    id: String(entry.opid ?? ''),
    seconds: ms / 1000,
    client: String(entry.appName ?? entry.client ?? ''),
    asked: {
      ...{ at: '', api: 'mongo', operation: nameOf(command), database, collection },
      ...{ duration_ms: Math.round(ms), examined: 0, returned: 0, query },
    },
  };
}

/** Returns the activity on a collection, longest-running first. */
export function activityOf(
  entries: readonly Document[],
  { database, collection }: { database: string; collection: string },
): Activity {
  const here = entries.filter(({ ns }) => ns === `${database}.${collection}`);
  const running = here.filter(({ type }) => type === 'op');
  const idle = here.filter(({ type }) => type === 'idleCursor').length;
  const used = running.filter(({ cursor }) => cursor !== undefined).length;
  return {
    operations: running
      .map((entry) => operationOf(entry, collection, database))
      .filter(({ asked }) => !OF_THE_PAGE.has(asked.operation))
      .sort((a, b) => b.seconds - a.seconds),
    cursors: { open: idle + used, idle },
  };
}
