// Banners above every page: server unreachable or back, clock step to confirm, shown object
// deleted.
import { useEffect, useRef, useState } from 'react';
import { acceptClock } from '../api/admin';
import { words } from '../api/http';
import { mayWrite, session } from '../api/session';
import { isUnconfirmed } from '../pure/time/clockState';
import { inWords } from '../pure/time/duration';
import { timeOfDay, utc } from '../pure/time/utc';
import { say } from '../state/log';
import { usePlace } from '../state/router';
import { refreshServer, server } from '../state/server';
import { useSelected, useStore } from '../state/store';
import { isAbsent, refreshTree, tree } from '../state/tree';
import { Banner } from '../ui/Banner';
import { Button } from '../ui/Button';
import { noun, READ_ONLY } from './dialogs';
import { Waiting } from './Waiting';

const BACK_SHOWN_MS = 6000;

function Silence() {
  const since = useSelected(server, (state) => state.silentSince);
  const waitsFor = useSelected(server, (state) => state.waitsFor);
  const wasSilent = useRef(false);
  const [back, setBack] = useState(false);
  useEffect(() => {
    if (since !== null) {
      wasSilent.current = true;
      setBack(false);
      return;
    }
    if (!wasSilent.current) return;
    wasSilent.current = false;
    setBack(true);
    const timer = setTimeout(() => setBack(false), BACK_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [since]);
  if (since !== null) {
    return (
      <Banner look="bad">
        {waitsFor === null
          ? `The server has not responded since ${timeOfDay(since)}.`
          : `The server is not ready yet (${waitsFor}).`}{' '}
        Retrying every second; your input is kept.
      </Banner>
    );
  }
  return back ? <Banner look="good">The server is responding again.</Banner> : null;
}

/** A button that confirms a clock step. */
function Accept({ children }: { children: string }) {
  const may = mayWrite(useStore(session));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const accept = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await acceptClock();
      await refreshServer();
      say({ kind: 'done', text: 'Successfully accepted the clock' });
    } catch (error) {
      setFailure(words(error));
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        busy={busy}
        disabled={!may}
        title={may ? undefined : READ_ONLY}
        onClick={() => void accept()}
      >
        {children}
      </Button>
      {failure !== null && <span className="error">{failure}</span>}
    </>
  );
}

/** Describes the difference between system clock and database clock. */
function distance(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  return `${inWords(seconds)} ${offsetMs < 0 ? 'behind' : 'ahead of'} database time`;
}

function ClockState() {
  const clock = useSelected(server, (state) => state.status?.clock);
  if (clock === undefined) return null;
  const waits = isUnconfirmed(clock);
  return (
    <>
      {waits && (
        <Banner look="warn">
          <span>
            The system clock has jumped: it is {distance(clock.offset_ms)}. Database time continues
            as if it had not. Once the step is accepted, or has lasted 10 minutes, everything that
            is due by then expires, which cannot be undone.
          </span>
          <Accept>Accept the step</Accept>
        </Banner>
      )}
      {!waits && clock.reap_until_ms !== null && (
        <Banner look="warn">
          <span>
            The clock has jumped to {utc(clock.reap_until_ms)} or later. Documents that expired by
            that time are hidden, and their data is kept until the jump is accepted, or for a day.
          </span>
          <Accept>Accept the jump</Accept>
        </Banner>
      )}
      {(!clock.running || !clock.keeps_pace) && (
        <Banner look="bad">
          {clock.running
            ? 'Database time runs slower than the independent clock of the machine.'
            : 'Database time is stopped because its checkpoint cannot be written; operations wait.'}
        </Banner>
      )}
    </>
  );
}

/** A banner when the tree shows that the current database or collection was deleted. */
function Deleted() {
  const { place } = usePlace();
  const known = useStore(tree);
  const [busy, setBusy] = useState(false);
  if (place.page !== 'collection' && place.page !== 'database') return null;
  if (!isAbsent(known, place)) return null;
  const { door, database } = place;
  const isWhole = isAbsent(known, { page: 'database', door, database });
  const what =
    place.page === 'database' || isWhole
      ? `database ${database}`
      : `${noun(door)} ${place.collection}`;
  const reload = async () => {
    setBusy(true);
    await refreshTree();
    setBusy(false);
  };
  return (
    <Banner look="warn">
      <span>There is no {what}. It may have been deleted.</span>
      <Button busy={busy} onClick={() => void reload()}>
        Reload the tree
      </Button>
    </Banner>
  );
}

export function Banners() {
  return (
    <div className="frame-banners">
      <Silence />
      <Waiting />
      <ClockState />
      <Deleted />
    </div>
  );
}
