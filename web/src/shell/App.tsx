// The frame around every page: who is signed in, the tree, the tabs, the console.
import { lazy, Suspense, useEffect } from 'react';
import { loadSession, session } from '../api/session';
import { useServerPolling } from '../state/server';
import { useStore } from '../state/store';
import { Frame } from './Frame';

const Login = lazy(() => import('./Login'));

export function App() {
  const known = useStore(session);
  useServerPolling();
  useEffect(() => {
    loadSession().catch(() => {
      // The banner of the frame says that the server is silent; polling goes on.
    });
  }, []);
  if (known === null) return <p className="empty">Loading…</p>;
  return (
    <Suspense fallback={<p className="empty">Loading…</p>}>
      {known.right === null ? <Login /> : <Frame />}
    </Suspense>
  );
}
