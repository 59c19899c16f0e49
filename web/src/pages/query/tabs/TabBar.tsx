// The open queries on a collection, and actions on the current one.
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/Button';
import { Menu } from '../../../ui/Menu';
import { Tabs } from '../../../ui/Tabs';
import { NameDialog } from './NameDialog';
import { MOST_TABS, type QueryTab, type TabList, titleOf } from './tabList';

export interface TabBarProps {
  list: TabList;
  /** Whether a tab differs from the saved query of its name. */
  isChanged: (tab: QueryTab) => boolean;
  /** Id of the panel of the current tab. */
  panel: string;
  /** The current query is too long for a URL. */
  isTooLong: boolean;
  savedNames: readonly string[];
  onShow: (id: string) => void;
  onNew: () => void;
  onClose: () => void;
  onRename: (name: string) => void;
  onSave: (name: string) => void;
}

const NEW_KEY = 'first';
/** Tab keys must not be empty. */
const keyOf = (id: string) => (id === '' ? NEW_KEY : id);

export function TabBar(props: TabBarProps) {
  const {
    list,
    isChanged,
    panel,
    isTooLong,
    savedNames,
    onShow,
    onNew,
    onClose,
    onRename,
    onSave,
  } = props;
  const [menu, openMenu] = useState<{ x: number; y: number } | null>(null);
  const [asked, ask] = useState<'rename' | 'save' | null>(null);
  const shown = list.tabs.find(({ id }) => id === list.shown);
  const isFull = list.tabs.length >= MOST_TABS;
  return (
    <div className="query-tabs">
      <Tabs
        label="Queries"
        tabs={list.tabs.map((tab) => ({
          key: keyOf(tab.id),
          label: titleOf(tab) + (isChanged(tab) ? ' (changed)' : ''),
        }))}
        selected={keyOf(list.shown)}
        onSelect={(key) => onShow(key === NEW_KEY ? '' : key)}
        panel={panel}
      />
      <Button
        look="quiet"
        disabled={isFull}
        title={isFull ? `At most ${MOST_TABS} queries can be open` : undefined}
        onClick={onNew}
      >
        New query
      </Button>
      <span className="result-space" />
      {isTooLong && <span className="hint">Too long for a link</span>}
      <Button look="quiet" onClick={() => ask('save')}>
        Save query
      </Button>
      <Button
        look="quiet"
        aria-haspopup="menu"
        aria-expanded={menu !== null}
        aria-label="More for this query"
        onClick={(event) => {
          const { left, bottom } = event.currentTarget.getBoundingClientRect();
          openMenu({ x: left, y: bottom + 4 });
        }}
      >
        <Ellipsis className="icon" />
      </Button>
      {menu !== null && (
        <Menu
          label="This query"
          at={menu}
          onClose={() => openMenu(null)}
          items={[
            { label: 'Rename tab', onChoose: () => ask('rename') },
            { label: 'Close tab', onChoose: onClose },
          ]}
        />
      )}
      {asked !== null && shown !== undefined && (
        <NameDialog
          title={asked === 'save' ? 'Save the query' : 'Rename the tab'}
          initial={titleOf(shown)}
          action={asked === 'save' ? 'Save' : 'Rename'}
          {...(asked === 'save'
            ? { taken: { names: savedNames, what: 'It replaces the saved query of this name.' } }
            : {})}
          onName={asked === 'save' ? onSave : onRename}
          onClose={() => ask(null)}
        />
      )}
    </div>
  );
}
