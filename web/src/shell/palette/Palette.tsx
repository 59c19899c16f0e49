// The palette: a field that finds databases, collections, pages and actions by some of their letters. The
// keyboard stays in the field; arrows move in the list below it, Enter does what is chosen.
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
/** As far as the clock may be moved at once. */
const FURTHEST_SECONDS = 9_223_372_036;

const MOST_QUERIES = 10;

/** The last queries of this browser. */
function queries(): Recent[] {
  const all = (['nosql', 'mongo'] as const).flatMap((door) =>
    readPreference<Past[]>(`history:${door}`, [], isHistory).map((past) => ({ door, past })),
  );
  return all.sort((a, b) => b.past.at - a.past.at).slice(0, MOST_QUERIES);
}

/** What is saved in this browser, of any server. */
function savedQueries(): SavedOf[] {
  return preferencesOf('saved:').flatMap((place) =>
    readPreference<Saved[]>(`saved:${place}`, [], isSavedList).map((saved) => ({ place, saved })),
  );
}

/** The queries of slow operations, once the server has told of them. */
function useSlow(): readonly SlowQuery[] {
  const [slow, setSlow] = useState<readonly SlowQuery[]>([]);
  useEffect(() => {
    let left = false;
    import('../../pages/metrics/slow/queries')
      .then(({ readSlowQueries }) => readSlowQueries(MOST_QUERIES))
      .then(
        (found) => !left && setSlow(found),
        // They are one thing of many; the page of metrics says why it has none.
        () => undefined,
      );
    return () => {
      left = true;
    };
  }, []);
  return slow;
}

/** What is offered, whatever is typed. */
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

/** Entries that fit, those of a group together, the group of the best one first. */
function shownOf(entries: readonly Entry[], typed: string, manual: boolean): Entry[] {
  const isOther = ({ group }: Entry) => group === 'Other collections';
  const found = best(
    entries.filter((one) => !isOther(one)),
    textOf,
    typed,
    MOST,
  );
  // What can be done here comes before the same of other collections, which only a word finds.
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

/** Where each group begins. */
function firstOf(shown: readonly Entry[]): Map<string, number> {
  const first = new Map<string, number>();
  shown.forEach(({ group }, at) => {
    if (!first.has(group)) first.set(group, at);
  });
  return first;
}

function choose(entry: Entry): void {
  // The palette goes first and gives the focus back; what is chosen may then take it.
  flushSync(() => overlay.set(null));
  entry.run();
}

export interface PaletteProps {
  /** What stands in the field at first. */
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
          aria-label="Found"
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
