// Shown when a save conflicts with one by another user: base, theirs and mine, and three ways to
// resolve it. Changes nothing itself.
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { ThreeWay, type ThreeWayRow } from '../../../ui/ThreeWay';
import type { Difference } from '../container/definition';

export interface ConflictDialogProps {
  /** "The container X". */
  what: string;
  theirs: readonly Difference[];
  mine: readonly Difference[];
  onOverwrite: () => void;
  onTheirs: () => void;
  onEdit: () => void;
}

/** Returns one row per changed setting; a side without a change keeps the base value. */
function rowsOf(theirs: readonly Difference[], mine: readonly Difference[]): ThreeWayRow[] {
  const rows = new Map<string, ThreeWayRow>();
  for (const [side, changes] of [
    ['theirs', theirs],
    ['mine', mine],
  ] as const)
    for (const { name, before, after } of changes) {
      const row = rows.get(name) ?? { name, before, theirs: before, mine: before };
      rows.set(name, { ...row, [side]: after });
    }
  return [...rows.values()];
}

export function ConflictDialog(props: ConflictDialogProps) {
  const rows = rowsOf(props.theirs, props.mine);
  return (
    <Dialog title="Changed by someone else" onClose={props.onEdit}>
      <p role="alert">{`${props.what} was changed after you opened it. Nothing has been saved.`}</p>
      {rows.length > 0 && <ThreeWay caption="Differences" noun="Setting" rows={rows} />}
      {props.theirs.length === 0 && (
        <p className="hint">
          The settings on this page have not changed on the server; another property has.
        </p>
      )}
      <p className="hint">
        Overwriting applies only your changes; all other settings keep their values on the server.
      </p>
      <div className="row dialog-buttons">
        <Button look="danger" onClick={props.onOverwrite}>
          Overwrite with mine
        </Button>
        <Button onClick={props.onTheirs}>Use theirs</Button>
        <Button onClick={props.onEdit}>Keep editing</Button>
      </div>
    </Dialog>
  );
}
