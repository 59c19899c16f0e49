// One notice: the newest outcome with Undo, and a collapsible list of earlier outcomes that can
// still be undone.
import { Check, ChevronDown, ChevronRight, TriangleAlert, X } from 'lucide-react';
import { useId, useLayoutEffect, useState } from 'react';
import type { Entry } from '../state/log';
import { leavesAt, type Notice } from '../state/toasts';
import { Button } from './Button';

export interface ToastProps {
  notice: Notice;
  /** Browser time in ms. */
  now: number;
  /** The action of an entry was chosen. */
  onTake: (entry: Entry) => void;
  onClose: () => void;
  /** The height changed. */
  onSize: () => void;
}

type TakeProps = Pick<ToastProps, 'now' | 'onTake'> & { entry: Entry };

function Take({ entry, now, onTake }: TakeProps) {
  const left = Math.max(1, Math.ceil((leavesAt(entry) - now) / 1000));
  return (
    <Button onClick={() => onTake(entry)}>
      {entry.action?.label} ({left} s)
    </Button>
  );
}

export function Toast({ notice, now, onTake, onClose, onSize }: ToastProps) {
  const { head, isOffered, earlier } = notice;
  const [open, setOpen] = useState(false);
  const list = useId();
  if (open && earlier.length === 0) setOpen(false);
  const size = open ? earlier.length : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the list changes its length.
  useLayoutEffect(onSize, [size]);
  return (
    <div className="toast">
      {head.warns === true ? (
        <TriangleAlert className="icon toast-warns" />
      ) : (
        <Check className="icon toast-mark" />
      )}
      <span className="toast-text">{head.text}</span>
      {/* The key keeps a double press from undoing two outcomes: the next one gets a new
          button. */}
      {isOffered && <Take key={head.id} entry={head} now={now} onTake={onTake} />}
      <Button look="quiet" aria-label={`Dismiss: ${head.text}`} onClick={onClose}>
        <X className="icon" />
      </Button>
      {earlier.length > 0 && (
        <div className="toast-earlier">
          <Button
            look="quiet"
            aria-expanded={open}
            aria-controls={open ? list : undefined}
            onClick={() => setOpen(!open)}
          >
            {open ? <ChevronDown className="icon" /> : <ChevronRight className="icon" />}
            {earlier.length} earlier can be undone
          </Button>
          {open && (
            <ul id={list}>
              {earlier.map((entry) => (
                <li key={entry.id}>
                  <span className="toast-text">{entry.text}</span>
                  <Take entry={entry} now={now} onTake={onTake} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  );
}
