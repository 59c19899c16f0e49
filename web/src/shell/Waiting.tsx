// A line above every page while requests wait because the server had too many of them.
import { useEffect, useState } from 'react';
import { waiting } from '../api/patience';
import { useStore } from '../state/store';
import { Banner } from '../ui/Banner';

/** Shorter ones need no word. */
const NOTICED_MS = 250;

export function Waiting() {
  const isWaiting = useStore(waiting) > 0;
  const [shown, show] = useState(false);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(() => show(true), NOTICED_MS);
    return () => {
      clearTimeout(timer);
      show(false);
    };
  }, [isWaiting]);
  if (!shown) return null;
  return (
    <Banner look="warn">
      More is asked of the server than it takes now, or than the throughput allows. Requests wait,
      and are sent again by themselves.
    </Banner>
  );
}
