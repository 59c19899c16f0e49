// Chooses the component of a place.
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

/** Preloads the code of a place's page. */
export function loadPage(place: Place): void {
  if (place.page === 'unknown') return;
  const name = place.page === 'collection' ? place.view : place.page;
  const isFigures = place.page === 'collection' && place.view === 'metrics';
  load[isFigures ? 'figures' : name]().catch(() => {
    // The component that shows it retries and reports the failure.
  });
}

/**
 * A page of a collection. If the collection is deleted while the page is open, the page and its
 * input stay; if it never existed, only the banner is shown.
 */
function Here({ target, children }: { target: Target; children: ReactNode }) {
  const place: Place = { page: 'collection', view: 'items', ...target };
  const known = useStore(tree);
  const wasHere = useRef(false);
  // It may have been created after the tree was loaded.
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
          <h1>Page not found</h1>
          <p>
            <PlaceLink to={{ page: 'home' }}>Go to Home</PlaceLink>
          </p>
        </div>
      );
    case 'collection': {
      const { door, database, collection } = place;
      const target: Target = { door, database, collection };
      const View = VIEWS[place.view];
      // The key remounts the page for another collection, so no state is carried over.
      return (
        <Here key={pathOf(place)} target={target}>
          <View target={target} />
        </Here>
      );
    }
  }
}
