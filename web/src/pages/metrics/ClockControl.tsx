// The database clock: its state, a step that waits to be accepted, and the moves of a manual clock.
import { useState } from 'react';
import { acceptClock } from '../../api/admin';
import { words } from '../../api/http';
import { mayWrite, session } from '../../api/session';
import { utc } from '../../pure/utc';
import { refreshServer, server, useNow } from '../../state/server';
import { useStore } from '../../state/store';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { type ClockState, isUnconfirmed, offsetWords } from './clock';
import { type Figure, Figures } from '../../ui/Figures';
import { ManualClock } from './ManualClock';
import './metrics.css';

function figuresOf(clock: ClockState, now: number): Figure[] {
  const manual = clock.mode === 'manual';
  const held = clock.reap_until_ms;
  return [
    {
      name: 'Clock',
      value: manual ? 'manual' : 'system',
      hint: manual ? 'It stands still and moves only when told.' : 'It follows the machine and never goes back.',
    },
    { name: 'Database time', value: <time dateTime={new Date(now).toISOString()}>{utc(now)}</time> },
    { name: 'Offset', value: offsetWords(clock.offset_ms) },
    { name: 'Pace', value: clock.running && clock.keeps_pace ? 'keeps pace' : 'does not keep pace' },
    ...(held === null ? [] : [{ name: 'Reaping', value: `held back at ${utc(held)}` }]),
  ];
}

/** A step of the machine's clock that the database did not follow yet. */
function Unconfirmed({ clock, allowed }: { clock: ClockState; allowed: boolean }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const accept = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await acceptClock();
      await refreshServer();
    } catch (error) {
      setFailure(words(error));
    }
    setBusy(false);
  };
  return (
    <>
      <Banner look="warn">
        <span>
          The machine's clock made a step that is not confirmed: {offsetWords(clock.offset_ms)}. Database
          time goes on without it until it is accepted or has lasted 10 minutes.
        </span>
        <Button
          busy={busy}
          disabled={!allowed}
          title={allowed ? undefined : 'This session may only read.'}
          onClick={() => void accept()}
        >
          Accept the step
        </Button>
      </Banner>
      {failure !== null && <Banner look="bad">{failure}</Banner>}
    </>
  );
}

export function ClockControl() {
  const clock = useStore(server).status?.clock;
  const allowed = mayWrite(useStore(session));
  const now = useNow();
  if (clock === undefined || now === null) return <p className="hint">The clock is not known yet.</p>;
  return (
    <div className="metrics-clock">
      <Figures figures={figuresOf(clock, now)} label="Clock" />
      {isUnconfirmed(clock) && <Unconfirmed clock={clock} allowed={allowed} />}
      {clock.mode === 'manual' && <ManualClock now={now} allowed={allowed} />}
    </div>
  );
}
