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
      <p>This applies immediately to all writes through the MongoDB API, in all databases.</p>
      {on ? (
        <p>
          In documents written from then on, a whole number in the field <code>ttl</code> takes
          effect in collections with TTL: the document expires that many seconds after its write, or
          never with <code>-1</code>.
        </p>
      ) : (
        <p>
          In documents written from then on, <code>ttl</code> is an ordinary field. They expire by
          the default of their collection instead, which may be sooner or later than intended.
        </p>
      )}
      <p>
        Existing documents keep their time to live until they are written again. Turning it{' '}
        {on ? 'off' : 'on'} again does not change documents written in the meantime.
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
