// What was done, in the corner of the page, with a way to take it back where there is one, and what goes on,
// with how far it has come. Screen readers hear outcomes from the console, which says the same.
import { Check, TriangleAlert, X } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { count } from '../pure/figures/amount';
import { log } from '../state/log';
import { useUnloadGuard } from '../state/router';
import { useStore } from '../state/store';
import { leavesAt, shownToasts, toastsTop } from '../state/toasts';
import { type Work, works } from '../state/works';
import { Button } from './Button';
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
  const [now, setNow] = useState(Date.now);
  const shown = shownToasts(entries, closed, now);
  const going = useStore(works);
  const isAny = shown.length + going.length > 0;
  // It ends with the tab, half done.
  useUnloadGuard(going.length > 0);
  const box = useRef<HTMLElement>(null);
  // Texts change their heights, and so does the window.
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
  const close = (id: number) => setClosed((known) => new Set(known).add(id));
  return (
    <section className="toasts" aria-label="Notifications" ref={box}>
      {going.map((work) => (
        <Going key={work.id} {...work} />
      ))}
      {shown.map((entry) => {
        const { id, text, action } = entry;
        return (
          <div key={id} className="toast">
            {entry.warns === true ? (
              <TriangleAlert className="icon toast-warns" />
            ) : (
              <Check className="icon toast-mark" />
            )}
            <span className="toast-text">{text}</span>
            {action !== undefined && (
              <Button
                onClick={() => {
                  close(id);
                  action.onChoose();
                }}
              >
                {action.label} ({Math.max(1, Math.ceil((leavesAt(entry) - now) / 1000))} s)
              </Button>
            )}
            <Button look="quiet" aria-label={`Dismiss: ${text}`} onClick={() => close(id)}>
              <X className="icon" />
            </Button>
          </div>
        );
      })}
    </section>
  );
}
