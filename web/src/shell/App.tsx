// The root component: waits for the server, then shows the login or the frame with its pages.
import { Suspense, useEffect, useState } from 'react';
import { words } from '../api/http';
import { loadSession, session } from '../api/session';
import { useServerPolling } from '../state/server';
import { useStore } from '../state/store';
import { Banner } from '../ui/Banner';
import { part } from '../ui/part';
import { enter, inside } from './entry';
import { Failed } from './Failed';
import { Frame } from './Frame';
import { Opening } from './Opening';

const Login = part(() => import('./Login'));
const LoginAgain = part<object>(() =>
  import('./Login').then((module) => ({ default: module.LoginAgain })),
);

const AGAIN_MS = 1000;

/** Loads the session, retrying until it succeeds; returns the last error until then. */
function useFirstSession(): string | null {
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        await loadSession();
      } catch (error) {
        if (stopped) return;
        setFailure(words(error));
        timer = setTimeout(() => void ask(), AGAIN_MS);
      }
    };
    if (session.get() === null) void ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, []);
  return failure;
}

export function App() {
  const known = useStore(session);
  const isInside = useStore(inside);
  useServerPolling();
  const failure = useFirstSession();
  const right = known?.right ?? null;
  useEffect(() => {
    if (right !== null) enter();
  }, [right]);
  if (known === null) {
    if (failure === null) return <Opening />;
    return (
      <main className="page">
        <h1>EbbDB</h1>
        <Banner look="bad">{failure} Retrying every second.</Banner>
      </main>
    );
  }
  return (
    <Failed>
      <Suspense fallback={<Opening />}>
        {right !== null || isInside ? <Frame /> : <Login />}
      </Suspense>
      {/* Separate boundary: loading the dialog must not unmount the frame. */}
      <Suspense fallback={null}>{right === null && isInside && <LoginAgain />}</Suspense>
    </Failed>
  );
}
