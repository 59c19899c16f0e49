// The command palette: finds databases, collections, pages and actions by typed letters. The focus
// stays in the input; arrows move in the list, Enter executes the selected entry.
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { mayWrite, session } from '../../api/session';
import type { SlowQuery } from '../../pages/metrics/slow/queries';
import { isHistory, type Past } from '../../pages/query/history';
import { isSavedList, type Saved } from '../../pages/query/tabs/saved';
import { best } from '../../pure/finding/fuzzy';
import { inWords } from '../../pure/time/duration';
import { typedMove } from '../../pure/time/typedMove';
import { preferencesOf, readPreference } from '../../state/preference';
import { usePlace } from '../../state/router';
import { server } from '../../state/server';
import { useSelected, useStore } from '../../state/store';
import { tree } from '../../state/tree';
import { Dialog } from '../../ui/Dialog';
import { Keys } from '../keys/Keys';
import { overlay } from '../keys/overlay';
import { type Entry, entriesOf, moving, type Recent, type SavedOf } from './entries';
import { useAllNames } from './useAllNames';
import './palette.css';

const MOST = 50;
/** Largest single move of the clock. */
const FURTHEST_SECONDS = 9_223_372_036;

const MOST_QUERIES = 10;

/** Returns the most recent queries of this browser. */
function queries(): Recent[] {
  const all = (['nosql', 'mongo'] as const).flatMap((door) =>
    readPreference<Past[]>(`history:${door}`, [], isHistory).map((past) => ({ door, past })),
  );
  return all.sort((a, b) => b.past.at - a.past.at).slice(0, MOST_QUERIES);
}

/** Returns the queries saved in this browser for any server. */
function savedQueries(): SavedOf[] {
  return preferencesOf('saved:').flatMap((place) =>
    readPreference<Saved[]>(`saved:${place}`, [], isSavedList).map((saved) => ({ place, saved })),
  );
}

/** Returns the queries of slow operations, once loaded. */
function useSlow(): readonly SlowQuery[] {
  const [slow, setSlow] = useState<readonly SlowQuery[]>([]);
  useEffect(() => {
    let left = false;
    import('../../pages/metrics/slow/queries')
      .then(({ readSlowQueries }) => readSlowQueries(MOST_QUERIES))
      .then(
        (found) => !left && setSlow(found),
        // Ignored here; the metrics page reports the failure.
        () => undefined,
      );
    return () => {
      left = true;
    };
  }, []);
  return slow;
}

/** Returns all entries, independent of the typed text. */
function useEntries(): { entries: Entry[]; manual: boolean } {
  const { place } = usePlace();
  const known = useStore(session);
  const all = useStore(tree);
  const slow = useSlow();
  const manual = useSelected(server, (state) => state.status?.clock.mode) === 'manual';
  const entries = useMemo(() => {
    const doors = { mongo: known?.doors.mongo != null, nosql: known?.doors.cosmos != null };
    const may = mayWrite(known);
    const kept = { recent: queries(), saved: savedQueries(), slow };
    return entriesOf({ place, tree: all, doors, may, manual, ...kept });
  }, [place, all, known, manual, slow]);
  return { entries, manual: manual && mayWrite(known) };
}

const textOf = ({ label, hint, found }: Entry) => found ?? `${label} ${hint ?? ''}`;

/** Returns the matching entries by group; the group of the best match comes first. */
function shownOf(entries: readonly Entry[], typed: string, manual: boolean): Entry[] {
  const isOther = ({ group }: Entry) => group === 'Other collections';
  const found = best(
    entries.filter((one) => !isOther(one)),
    textOf,
    typed,
    MOST,
  );
  // Actions on the current collection come first; those on others need a search term.
  const others = typed.trim() === '' ? [] : entries.filter(isOther);
  found.push(...best(others, textOf, typed, MOST - found.length));
  const seconds = manual ? typedMove(typed, FURTHEST_SECONDS) : null;
  if (seconds !== null) {
    const asked = moving(seconds, inWords(seconds));
    const others = found.filter(({ key }) => key !== asked.key);
    found.splice(0, found.length, asked, ...others);
  }
  const groups = [...new Set(found.map(({ group }) => group))];
  return groups.flatMap((name) => found.filter(({ group }) => group === name));
}

/** Returns the index of each group's first entry. */
function firstOf(shown: readonly Entry[]): Map<string, number> {
  const first = new Map<string, number>();
  shown.forEach(({ group }, at) => {
    if (!first.has(group)) first.set(group, at);
  });
  return first;
}

function choose(entry: Entry): void {
  // Close the palette first: it restores the focus, which the action may then take.
  flushSync(() => overlay.set(null));
  entry.run();
}

export interface PaletteProps {
  /** Initial text of the input. */
  typed: string;
  onClose: () => void;
}

export default function Palette({ typed: first, onClose }: PaletteProps) {
  const [typed, setTyped] = useState(first);
  const [at, setAt] = useState(0);
  const { entries, manual } = useEntries();
  useAllNames();
  const shown = useMemo(() => shownOf(entries, typed, manual), [entries, typed, manual]);
  const groups = useMemo(() => firstOf(shown), [shown]);
  const active = Math.min(at, shown.length - 1);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [active, shown]);
  const press = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    const entry = shown[active];
    if (event.key === 'Enter' && entry !== undefined && !event.nativeEvent.isComposing) {
      choose(entry);
    } else if (step !== undefined && shown.length > 0) {
      const isFar = Math.abs(step) > 1;
      const to = active + step;
      const last = shown.length - 1;
      setAt(isFar ? Math.max(0, Math.min(last, to)) : (to + shown.length) % shown.length);
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search or run a command" onClose={onClose}>
      <div className="palette">
        <input
          type="text"
          role="combobox"
          aria-label="Find a collection, a page or an action"
          placeholder="Find a collection, a page or an action"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          maxLength={1000}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <div
          id={`${id}-list`}
          ref={list}
          className="palette-list"
          role="listbox"
          aria-label="Results"
        >
          {[...groups].map(([group, first]) => (
            <div key={group} role="group" aria-labelledby={`${id}-group-${first}`}>
              <div id={`${id}-group-${first}`} className="palette-group" role="presentation">
                {group}
              </div>
              {shown.slice(first).map((entry, further) => {
                const index = first + further;
                if (entry.group !== group) return null;
                return (
                  <Line
                    key={entry.key}
                    id={`${id}-${index}`}
                    entry={entry}
                    active={index === active}
                    onPoint={() => setAt(index)}
                  />
                );
              })}
            </div>
          ))}
        </div>
        <p className={shown.length === 0 ? 'hint palette-none' : 'visually-hidden'} role="status">
          {shown.length === 0 ? 'No results' : `${shown.length} results`}
        </p>
      </div>
    </Dialog>
  );
}

interface LineProps {
  id: string;
  entry: Entry;
  active: boolean;
  onPoint: () => void;
}

function Line({ id, entry, active, onPoint }: LineProps) {
  const { label, hint, keys } = entry;
  return (
    <div
      id={id}
      role="option"
      className="palette-line"
      aria-selected={active}
      onPointerMove={active ? undefined : onPoint}
      onClick={() => choose(entry)}
    >
      <bdi className="palette-label">{label}</bdi>
      {hint !== undefined && <span className="hint">{hint}</span>}
      {keys !== undefined && (
        <span aria-hidden="true">
          <Keys written={keys} />
        </span>
      )}
    </div>
  );
}
