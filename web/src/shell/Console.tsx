// The console at the bottom: requests and their outcomes. Its bar shows the last outcome as a live
// region for screen readers.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { memo, useEffect, useRef, useState } from 'react';
import { count } from '../pure/figures/amount';
import { timeOfDay } from '../pure/time/utc';
import { clearLog, type Entry, failuresAfter, log, outcomeOf, turned } from '../state/log';
import { usePreference } from '../state/preference';
import { CONSOLE, setQuery, usePlace } from '../state/router';
import { useStore } from '../state/store';
import { Button } from '../ui/Button';
import { CopyButton } from '../ui/CopyButton';
import './console.css';

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

const MARKS: Record<Entry['kind'], string> = { request: '·', done: '✓', failed: '✗', note: 'ℹ' };
const SAID: Record<Entry['kind'], string> = {
  request: 'Request',
  done: 'Done',
  failed: 'Failed',
  note: 'Note',
};

const Line = memo(function Line({ entry }: { entry: Entry }) {
  const figures = [
    entry.status === undefined ? null : String(entry.status),
    entry.ms === undefined ? null : `${entry.ms} ms`,
    entry.charge === undefined ? null : `${entry.charge} RU`,
  ].filter((figure) => figure !== null);
  return (
    <li className={`console-line ${entry.kind}`}>
      <span className="console-time">{timeOfDay(entry.at)}</span>
      <span aria-hidden="true">{MARKS[entry.kind]}</span>
      <span className="visually-hidden">{SAID[entry.kind]}: </span>
      <span className="console-text">{entry.text}</span>
      {figures.length > 0 && <span className="hint">{figures.join(' · ')}</span>}
      {entry.activityId !== undefined && (
        <span className="console-activity">
          <span className="hint mono">{entry.activityId}</span>
          <CopyButton text={entry.activityId} label="activity id" />
        </span>
      )}
    </li>
  );
});

/** Follows the newest entry unless the user has scrolled up. */
function Lines({ entries }: { entries: readonly Entry[] }) {
  const box = useRef<HTMLOListElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [entries]);
  return (
    <ol
      id="console-lines"
      ref={box}
      className="console-lines"
      tabIndex={0}
      aria-label="Requests and outcomes"
      onScroll={({ currentTarget: list }) => {
        atEnd.current = list.scrollHeight - list.scrollTop - list.clientHeight < 8;
      }}
    >
      {entries.map((entry) => (
        <Line key={entry.id} entry={entry} />
      ))}
      {entries.length === 0 && <li className="hint">Nothing yet.</li>}
    </ol>
  );
}

/** Open state: the last one in this browser, or as given by the URL. */
function useOpen(): [boolean, (open: boolean) => void] {
  const [kept, keep] = usePreference('console', false, isBoolean);
  const { query } = usePlace();
  const set = (open: boolean) => {
    keep(open);
    setQuery(CONSOLE, open ? 'open' : null);
  };
  return [kept || query.get(CONSOLE) === 'open', set];
}

/** Number of failures since the console was last open. */
function useUnseen(entries: readonly Entry[], open: boolean): number {
  const [seen, setSeen] = useState(0);
  const newest = entries.at(-1)?.id ?? 0;
  useEffect(() => {
    if (open) setSeen(newest);
  }, [open, newest]);
  return open ? 0 : failuresAfter(entries, seen);
}

export function Console() {
  const entries = useStore(log);
  const [open, setOpen] = useOpen();
  const before = useStore(turned);
  const outcome = outcomeOf(entries, before);
  const failures = useUnseen(entries, open);
  return (
    <section className="console" aria-label="Console">
      <div className="console-bar">
        <Button
          look="quiet"
          aria-expanded={open}
          aria-controls={open ? 'console-lines' : undefined}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronDown className="icon" /> : <ChevronRight className="icon" />} Console
          {failures > 0 && (
            <span className="badge console-failures" title="Failed since it was last open">
              {count(failures)} failed
            </span>
          )}
        </Button>
        <span
          className={`console-said ${outcome?.kind ?? ''}`}
          aria-live="polite"
          title={outcome?.text}
        >
          {outcome?.text}
        </span>
        {open && (
          <Button look="quiet" onClick={clearLog}>
            Clear
          </Button>
        )}
      </div>
      {open && <Lines entries={entries} />}
    </section>
  );
}
