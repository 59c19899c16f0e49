// Around every page: top bar, tree, banners, heading with tabs, and the console.
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { loadSession, session } from '../api/session';
import { loadEarly } from '../state/arrival';
import { type Place, pathOf, type Target } from '../state/place';
import { usePlace } from '../state/router';
import { useServerChanges } from '../state/server';
import { useStore } from '../state/store';
import { isAbsent, isListed, loadTreeWith, tree } from '../state/tree';
import { PlaceLink } from '../ui/PlaceLink';
import { part } from '../ui/part';
import { Skeleton } from '../ui/Skeleton';
import { Toasts } from '../ui/Toasts';
import { Banners } from './Banners';
import { Closed } from './Closed';
import { Console } from './Console';
import { dialog } from './dialogs';
import { Failed } from './Failed';
import { Heading, PANEL, tabOf } from './Heading';
import { TopBar } from './TopBar';
import { titleOf } from './title';
import { TreePane } from './tree/TreePane';
import './frame.css';

const Home = part(() => import('../pages/home/Home'));
const Features = part(() => import('../pages/features/Features'));
const AccountMetrics = part(() => import('../pages/metrics/AccountMetrics'));
const CollectionMetrics = part(() => import('../pages/metrics/CollectionMetrics'));
const Database = part(() => import('../pages/database/Database'));
const Items = part(() => import('../pages/items/Items'));
const Settings = part(() => import('../pages/settings/Settings'));
const Schema = part(() => import('../pages/schema/Schema'));
const Query = part(() => import('../pages/query/Query'));
const Dialogs = part(() => import('./create/Dialogs'));

const VIEWS = {
  items: Items,
  schema: Schema,
  settings: Settings,
  query: Query,
  metrics: CollectionMetrics,
};

/**
 * A page of a collection. One that was there keeps its page, with what was typed, when it is not there
 * any more; of one that never was, the line above the pages says enough.
 */
function Here({ target, children }: { target: Target; children: ReactNode }) {
  const place: Place = { page: 'collection', view: 'items', ...target };
  const known = useStore(tree);
  const wasHere = useRef(false);
  // It may be younger than what is known of the tree.
  const [isChecked, check] = useState(() => !isAbsent(tree.get(), place));
  const { door, database } = target;
  useEffect(() => {
    if (!isChecked) void loadTreeWith({ door, database }).finally(() => check(true));
  }, [isChecked, door, database]);
  const absent = isAbsent(known, place);
  const isHere = isListed(known, target);
  useEffect(() => {
    if (isHere) wasHere.current = true;
  }, [isHere]);
  if (!isChecked) return <p className="empty">Loading…</p>;
  return absent && !wasHere.current ? null : children;
}

function Shown({ place }: { place: Place }) {
  const doors = useStore(session)?.doors;
  if (place.page === 'database' || place.page === 'collection') {
    const address = place.door === 'nosql' ? doors?.cosmos : doors?.mongo;
    if (address === null) return <Closed door={place.door} />;
  }
  switch (place.page) {
    case 'home':
      return <Home />;
    case 'features':
      return <Features />;
    case 'metrics':
      return <AccountMetrics />;
    case 'database': {
      const { door, database } = place;
      return <Database key={pathOf(place)} door={door} database={database} />;
    }
    case 'unknown':
      return (
        <div className="page">
          <h1>There is no such page</h1>
          <p>
            <PlaceLink to={{ page: 'home' }}>To the front page</PlaceLink>
          </p>
        </div>
      );
    case 'collection': {
      const { door, database, collection } = place;
      const target: Target = { door, database, collection };
      const View = VIEWS[place.view];
      // Another collection is another page: nothing of the last one stays.
      return (
        <Here key={pathOf(place)} target={target}>
          <View target={target} />
        </Here>
      );
    }
  }
}

/** After a silence the server may have been started anew, and know no session and no token. */
function useSessionAgain(): void {
  const changes = useServerChanges();
  const first = useRef(changes);
  useEffect(() => {
    if (changes === first.current) return;
    loadSession().catch(() => {
      // The next request says what is wrong.
    });
  }, [changes]);
}

/** On a narrow window the tree is a drawer; Escape closes it. */
function useDrawer() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    document.querySelector<HTMLElement>('#tree .tree-filter')?.focus();
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]') !== null) return;
      setOpen(false);
      document.querySelector<HTMLElement>('.top-tree')?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open]);
  return { open, setOpen };
}

export function Frame() {
  const { place } = usePlace();
  const asked = useStore(dialog);
  const drawer = useDrawer();
  useSessionAgain();
  useEffect(loadEarly, []);
  useEffect(() => {
    document.title = titleOf(place);
  }, [place]);
  const known = useStore(tree);
  const isTabbed = place.page === 'collection' && !isAbsent(known, place);
  return (
    <div className="frame">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place in the page. */}
      <a
        className="frame-skip"
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('page')?.focus();
        }}
      >
        Skip to the page
      </a>
      <TopBar treeOpen={drawer.open} onTree={() => drawer.setOpen(!drawer.open)} />
      <div className="frame-middle">
        <nav id="tree" className={`frame-tree${drawer.open ? ' open' : ''}`} aria-label="Databases">
          <TreePane onLeave={() => drawer.setOpen(false)} />
        </nav>
        {drawer.open && (
          // biome-ignore lint/a11y/noStaticElementInteractions: the button in the bar closes it by key.
          <div className="frame-veil" onClick={() => drawer.setOpen(false)} />
        )}
        <main id="page" tabIndex={-1}>
          <Banners />
          <Heading place={place} />
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: named where it is a tab's panel. */}
          <div
            id={PANEL}
            className="frame-panel"
            role={isTabbed ? 'tabpanel' : undefined}
            aria-labelledby={isTabbed ? tabOf(place.view) : undefined}
          >
            <Failed key={pathOf(place)}>
              <Suspense fallback={<Skeleton lines={8} />}>
                <Shown place={place} />
              </Suspense>
            </Failed>
          </div>
        </main>
      </div>
      <Toasts />
      <Console />
      {asked !== null && (
        <Failed>
          <Suspense fallback={null}>
            <Dialogs asked={asked} onClose={() => dialog.set(null)} />
          </Suspense>
        </Failed>
      )}
    </div>
  );
}
