// Notices in the corner of the page: outcomes with Undo, and work in progress. Screen readers get
// the newest outcome from the console, which has the same text.
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { count } from '../pure/figures/amount';
import { log } from '../state/log';
import { useUnloadGuard } from '../state/router';
import { useStore } from '../state/store';
import { inSight, noticesOf, toastsTop } from '../state/toasts';
import { type Work, works } from '../state/works';
import { Button } from './Button';
import { Toast } from './Toast';
import './toasts.css';

const TICK_MS = 500;

function Going({ text, done, of }: Work) {
  return (
    <div className="toast">
      <span className="toast-text">
        {text}
        <span className="row">
          <progress max={of} value={done} aria-label={text} />
          <span>
            {count(done)} of {count(of)}
          </span>
        </span>
      </span>
    </div>
  );
}

export function Toasts() {
  const entries = useStore(log);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const [taken, setTaken] = useState<ReadonlyMap<number, number>>(new Map());
  const [now, setNow] = useState(Date.now);
  const [isAll, setAll] = useState(false);
  // Re-measures when texts or opened lists change the height.
  const [, measure] = useState(0);
  const notices = noticesOf(entries, { closed, taken }, now);
  const { shown, behind } = inSight(notices);
  const going = useStore(works);
  const isAny = shown.length + going.length > 0;
  // Closing the tab would stop the work half done.
  useUnloadGuard(going.length > 0);
  if (isAll && behind.length === 0) setAll(false);
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const put = () =>
      toastsTop.set(isAny ? (box.current?.getBoundingClientRect().top ?? null) : null);
    put();
    window.addEventListener('resize', put);
    return () => window.removeEventListener('resize', put);
  });
  useEffect(() => () => toastsTop.set(null), []);
  useEffect(() => setNow(Date.now()), [entries]);
  useEffect(() => {
    if (!isAny) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isAny]);
  return (
    <section className="toasts" aria-label="Notifications" ref={box}>
      {going.map((work) => (
        <Going key={work.id} {...work} />
      ))}
      {behind.length > 0 && (
        <Button aria-expanded={isAll} className="toasts-more" onClick={() => setAll(!isAll)}>
          {behind.length} more can be undone
        </Button>
      )}
      {notices
        .filter((one) => shown.includes(one) || (isAll && behind.includes(one)))
        .map((notice) => (
          <Toast
            key={notice.key}
            notice={notice}
            now={now}
            onTake={({ id, action }) => {
              setTaken((known) => new Map(known).set(id, Date.now()));
              action?.onChoose();
            }}
            onClose={() => setClosed((known) => new Set([...known, ...notice.ids]))}
            onSize={() => measure((n) => n + 1)}
          />
        ))}
    </section>
  );
}
