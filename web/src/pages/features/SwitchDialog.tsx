// Asks for confirmation before a switch is changed that affects all users of the server.
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';

export interface SwitchDialogProps {
  on: boolean;
  onSwitch: () => void;
  onClose: () => void;
}

export function SwitchDialog({ on, onSwitch, onClose }: SwitchDialogProps) {
  return (
    <Dialog
      title={`Turn per-document TTL for MongoDB collections ${on ? 'on' : 'off'}?`}
      onClose={onClose}
    >
      <p>
        This holds at once for everybody who writes to this server through the MongoDB API, in all
        databases.
      </p>
      {on ? (
        <p>
          From then on a whole number in the field <code>ttl</code> of a document that is written
          counts in a collection with TTL: the document expires that many seconds after its write,
          or never with <code>-1</code>.
        </p>
      ) : (
        <p>
          From then on a <code>ttl</code> in a document that is written is an ordinary field. The
          document expires by the default of its collection instead, which may be sooner or later
          than its writer means.
        </p>
      )}
      <p>
        Documents that are there already keep the time they have until they are written again.
        Turning it {on ? 'off' : 'on'} again does not change back what is written meanwhile.
      </p>
      <div className="row dialog-buttons">
        <Button look="primary" onClick={onSwitch}>
          Turn {on ? 'on' : 'off'}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
