// Somebody else has saved since these settings were read: what was, what is, what is wanted, and
// three ways to go on. Changes nothing itself.
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
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

function Rows({ caption, rows }: { caption: string; rows: readonly Difference[] }) {
  if (rows.length === 0) return <p className="hint">{`${caption}: nothing that is shown here.`}</p>;
  return (
    <div className="settings-scroll" tabIndex={0} role="region" aria-label={caption}>
      <table className="settings-table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">As you opened it</th>
            <th scope="col">{caption}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="mono settings-text">{before}</td>
              <td className="mono settings-text">{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ConflictDialog(props: ConflictDialogProps) {
  return (
    <Dialog title="Changed by somebody else" onClose={props.onEdit}>
      <p role="alert">{`${props.what} was changed after you opened it. Nothing has been saved.`}</p>
      <Rows caption="On the server now" rows={props.theirs} />
      <Rows caption="What you want" rows={props.mine} />
      <p className="hint">
        Saving yours changes only what you changed; everything else stays as it is on the server
        now.
      </p>
      <div className="row dialog-buttons">
        <Button look="danger" onClick={props.onOverwrite}>
          Overwrite with mine
        </Button>
        <Button onClick={props.onTheirs}>Take theirs</Button>
        <Button onClick={props.onEdit}>Go on editing</Button>
      </div>
    </Dialog>
  );
}
