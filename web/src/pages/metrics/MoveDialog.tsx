// Asks for confirmation of a clock move that expires documents: neither can be undone.
import { utc } from '../../pure/time/utc';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Losses } from './Losses';
import type { Toll } from './toll';

export interface Asked {
  seconds: number;
  toll: Toll | null;
  change: () => Promise<void>;
}

export interface MoveDialogProps {
  asked: Asked;
  now: number;
  onMove: () => void;
  onClose: () => void;
}

export function MoveDialog({ asked, now, onMove, onClose }: MoveDialogProps) {
  const { seconds, toll } = asked;
  return (
    <Dialog title={`Move the clock to ${utc(now + seconds * 1000)}?`} onClose={onClose}>
      <Losses seconds={seconds} toll={toll} />
      <p>Expired documents cannot be restored, and the clock never goes back.</p>
      <div className="row dialog-buttons">
        <Button look="danger" onClick={onMove}>
          Move the clock
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
