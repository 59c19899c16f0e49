// Asks before the clock goes forward: what is due by then disappears.
import { useState } from 'react';
import { advanceClock } from '../../api/admin';
import { words } from '../../api/http';
import { usePreview } from '../../pages/metrics/usePreview';
import { inWords } from '../../pure/time/duration';
import { toast } from '../../state/log';
import { refreshServer, useNow } from '../../state/server';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';

export default function Advance({ seconds, onClose }: { seconds: number; onClose: () => void }) {
  const now = useNow();
  const preview = usePreview(seconds, now ?? 0);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const move = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await advanceClock(seconds);
      await refreshServer();
      toast({ text: `Successfully advanced the clock by ${inWords(seconds)}` });
      onClose();
    } catch (error) {
      setFailure(words(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Advance the clock by ${inWords(seconds)}?`} onClose={onClose}>
      <p>The clock never goes back, and what expires by then does not come back.</p>
      <p role="status">{preview === '' ? 'Counting what expires…' : preview}</p>
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      <div className="row dialog-buttons">
        <Button look="danger" busy={busy} onClick={() => void move()}>
          Advance
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
