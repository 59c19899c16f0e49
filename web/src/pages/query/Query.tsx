// The query view: the open queries on a collection, in the language of its API.
import { useCallback, useRef, useState } from 'react';
import { useCommand } from '../../state/commands';
import { toast } from '../../state/log';
import type { Target } from '../../state/place';
import { usePreference } from '../../state/preference';
import { focusEditor } from '../../ui/focusEditor';
import { HistoryPanel } from './HistoryPanel';
import { isHistory, type Outcome, type Past, remember, settled } from './history';
import { MongoQuery } from './MongoQuery';
import { NosqlQuery } from './NosqlQuery';
import { isTooLong, type Texts } from './tabs/address';
import { draftBase, readTexts } from './tabs/drafts';
import { SavedPanel } from './tabs/SavedPanel';
import {
  isChanged,
  isSavedList,
  lengthOf,
  MOST_CHARACTERS,
  type Saved,
  withSaved,
} from './tabs/saved';
import { TabBar } from './tabs/TabBar';
import { useAddress, useTabs } from './tabs/useTabs';
import { forgetRuns } from './useRuns';
import type { Bench } from './Workbench';
import './query.css';

const PANEL = 'query-shown';

const toText = () => focusEditor(`#${PANEL}`);

function useSaved({ door, database, collection }: Target) {
  const name = `saved:${door}/${database}/${collection}`;
  const [saved, setSaved] = usePreference<Saved[]>(name, [], isSavedList);
  // A later undo must apply to the list as it is then.
  const latest = useRef(saved);
  const change = (to: (all: readonly Saved[]) => Saved[]) => {
    latest.current = to(latest.current);
    setSaved(latest.current);
  };
  return { saved, change };
}

/** Queries run in this browser, with their outcomes. */
function useHistory({ door, database, collection }: Target) {
  const [history, setHistory] = usePreference<Past[]>(`history:${door}`, [], isHistory);
  // Runs end in any order; each outcome must be added to the current list.
  const latest = useRef(history);
  const put = (next: Past[]) => {
    latest.current = next;
    setHistory(next);
  };
  const began = (ran: Texts) => {
    const place = `${database} › ${collection}`;
    const past: Past = { at: Date.now(), place, texts: { ...ran } };
    put(remember(latest.current, past));
    return (outcome: Outcome) => put(settled(latest.current, past, outcome));
  };
  return { history, began, clear: () => put([]) };
}

export default function Query({ target }: { target: Target }) {
  const tabs = useTabs(target);
  const { list } = tabs;
  const { saved, change } = useSaved(target);
  const { history, began, clear } = useHistory(target);
  const [texts, setTexts] = useState<Texts | null>(null);
  const [before] = useState(() => new Set(list.tabs.map(({ id }) => id)));
  const [visited, visit] = useState<readonly string[]>([list.shown]);
  if (!visited.includes(list.shown)) visit([...visited, list.shown]);
  useAddress(target, texts);
  useCommand('filter', 'Edit the query', toText);
  const Form = target.door === 'nosql' ? NosqlQuery : MongoQuery;
  const save = (name: string) => {
    if (texts === null) return;
    if (lengthOf(texts) > MOST_CHARACTERS) {
      toast({ text: 'The query is too long to be saved in this browser.' });
      return;
    }
    change((all) => withSaved(all, { name, texts }));
    tabs.rename(name);
    toast({ text: `Saved the query “${name}” in this browser.` });
  };
  const onTexts = useCallback((typed: Texts) => setTexts(typed), []);
  const benchOf = (id: string): Bench => ({
    id: `query-${id || 'first'}`,
    name: draftBase(target, id),
    isShown: id === list.shown,
    isNew: !before.has(id),
    onTexts,
    onRan: began,
    history: (onTake) => (
      <HistoryPanel history={history} onTake={(past) => onTake(past.texts)} onClear={clear} />
    ),
    saved: (
      <SavedPanel
        saved={saved}
        onChange={change}
        onOpen={(one) => tabs.open(one.texts, one.name)}
      />
    ),
  });
  return (
    <div className="query-page">
      <TabBar
        list={list}
        isChanged={({ id, name }) =>
          isChanged(saved, name, (id === list.shown ? texts : null) ?? readTexts(target, id))
        }
        panel={PANEL}
        isTooLong={texts !== null && isTooLong(target.door, texts)}
        savedNames={saved.map(({ name }) => name)}
        onShow={tabs.show}
        onNew={tabs.add}
        onClose={() => {
          forgetRuns(draftBase(target, list.shown));
          tabs.close();
        }}
        onRename={tabs.rename}
        onSave={save}
      />
      {list.tabs
        .filter(({ id }) => visited.includes(id))
        .map(({ id }) => (
          <div
            key={`${id} ${tabs.turnOf(id)}`}
            className="query-shown"
            hidden={id !== list.shown}
            {...(id === list.shown
              ? { id: PANEL, role: 'tabpanel', 'aria-labelledby': `${PANEL}-tab-${id || 'first'}` }
              : {})}
          >
            <Form target={target} id={id} bench={benchOf(id)} />
          </div>
        ))}
    </div>
  );
}
