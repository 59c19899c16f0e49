// Loads the sample, and shows how its sessions expire.
import { TimerReset } from 'lucide-react';
import { useState } from 'react';
import { advanceClock } from '../../api/admin';
import { ApiError, words } from '../../api/http';
import { mayWrite, session } from '../../api/session';
import { READ_ONLY } from '../../shell/dialogs';
import { refreshServer, server } from '../../state/server';
import { useSelected, useStore } from '../../state/store';
import { Button } from '../../ui/Button';
import { loaded, loadTheSample, partsOf } from './sample/loaded';
import { Watched } from './sample/Watched';

const STEP_SECONDS = 10;

function said(error: unknown): string {
  const isMissing = error instanceof ApiError && error.status === 404;
  return isMissing ? 'This server has no sample data.' : words(error);
}

/** A manual clock must be advanced for documents to expire. */
function Step() {
  const mode = useSelected(server, (state) => state.status?.clock.mode);
  const [failure, setFailure] = useState<string | null>(null);
  if (mode !== 'manual') return null;
  const move = async () => {
    setFailure(null);
    try {
      await advanceClock(STEP_SECONDS);
      await refreshServer();
    } catch (error) {
      setFailure(words(error));
    }
  };
  return (
    <p className="row">
      <span>The clock is manual, so nothing expires until it is advanced.</span>
      <Button onClick={() => void move()}>Advance it by {STEP_SECONDS} seconds</Button>
      {failure !== null && (
        <span className="error" role="alert">
          {failure}
        </span>
      )}
    </p>
  );
}

export function Sample() {
  const may = mayWrite(useStore(session));
  const sample = useStore(loaded);
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const load = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await loadTheSample();
      setRound((before) => before + 1);
    } catch (error) {
      setFailure(said(error));
    }
    setBusy(false);
  };
  return (
    <section className="home-card" aria-label="Sample">
      <h2>
        <TimerReset className="icon" />
        Watch documents expire
      </h2>
      <p className="row">
        <span>A database of sessions, most of which expire within a minute.</span>
        <Button
          look="primary"
          busy={busy}
          disabled={!may}
          title={may ? undefined : READ_ONLY}
          onClick={() => void load()}
        >
          Load sample data
        </Button>
        {failure !== null && (
          <span className="error" role="alert">
            {failure}
          </span>
        )}
      </p>
      {sample !== null && (
        <>
          {may && <Step />}
          {partsOf(sample).map((part) => (
            <Watched key={part.target.door} part={part} round={round} />
          ))}
        </>
      )}
    </section>
  );
}
