// Which page a place shows.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { session } from '../api/session';
import { type Place, pathOf, type Target } from '../state/place';
import { useStore } from '../state/store';
import { isAbsent, isListed, loadTreeWith, tree } from '../state/tree';
import { PlaceLink } from '../ui/PlaceLink';
import { part } from '../ui/part';
import { Closed } from './Closed';

const load = {
  home: () => import('../pages/home/Home'),
  features: () => import('../pages/features/Features'),
  metrics: () => import('../pages/metrics/AccountMetrics'),
  database: () => import('../pages/database/Database'),
  items: () => import('../pages/items/Items'),
  schema: () => import('../pages/schema/Schema'),
  settings: () => import('../pages/settings/Settings'),
  query: () => import('../pages/query/Query'),
  figures: () => import('../pages/metrics/CollectionMetrics'),
};
const Home = part(load.home);
const Features = part(load.features);
const AccountMetrics = part(load.metrics);
const Database = part(load.database);
const VIEWS = {
  items: part(load.items),
  schema: part(load.schema),
  settings: part(load.settings),
  query: part(load.query),
  metrics: part(load.figures),
};

/** Asks for the code of a place's page, before the page is shown. */
export function loadPage(place: Place): void {
  if (place.page === 'unknown') return;
  const name = place.page === 'collection' ? place.view : place.page;
  const isFigures = place.page === 'collection' && place.view === 'metrics';
  load[isFigures ? 'figures' : name]().catch(() => {
    // Whoever shows it asks again, and says what is wrong.
  });
}

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

export function Shown({ place }: { place: Place }) {
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
