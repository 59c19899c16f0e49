// Asks for confirmation before the clock is advanced: documents due by then expire.
import { useEffect, useState } from 'react';
import { advanceClock } from '../../api/admin';
import { words } from '../../api/http';
import { Losses } from '../../pages/metrics/Losses';
import { type Toll, tollOf } from '../../pages/metrics/toll';
import { inWords } from '../../pure/time/duration';
import { toast } from '../../state/log';
import { refreshServer } from '../../state/server';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';

export default function Advance({ seconds, onClose }: { seconds: number; onClose: () => void }) {
  /** undefined: still counting. */
  const [toll, setToll] = useState<Toll | null>();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let ended = false;
    void tollOf(seconds).then((found) => {
      if (!ended) setToll(found);
    });
    return () => {
      ended = true;
    };
  }, [seconds]);
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
      {toll === undefined ? (
        <p role="status">Counting what expires…</p>
      ) : (
        <Losses seconds={seconds} toll={toll} />
      )}
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
