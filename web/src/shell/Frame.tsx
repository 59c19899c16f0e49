// Top bar, tree, page, console.
import { lazy, Suspense } from 'react';
import type { Place, Target } from '../state/place';
import { usePlace } from '../state/router';

const Home = lazy(() => import('../pages/home/Home'));
const Features = lazy(() => import('../pages/features/Features'));
const AccountMetrics = lazy(() => import('../pages/metrics/AccountMetrics'));
const CollectionMetrics = lazy(() => import('../pages/metrics/CollectionMetrics'));
const Database = lazy(() => import('../pages/database/Database'));
const Items = lazy(() => import('../pages/items/Items'));
const Settings = lazy(() => import('../pages/settings/Settings'));
const Query = lazy(() => import('../pages/query/Query'));

function Shown({ place }: { place: Place }) {
  switch (place.page) {
    case 'home':
      return <Home />;
    case 'features':
      return <Features />;
    case 'metrics':
      return <AccountMetrics />;
    case 'database':
      return <Database door={place.door} database={place.database} />;
    case 'unknown':
      return <p className="empty">There is no such page.</p>;
    case 'collection': {
      const { door, database, collection } = place;
      const target: Target = { door, database, collection };
      const views = { items: Items, settings: Settings, query: Query, metrics: CollectionMetrics };
      const View = views[place.view];
      // Another collection is another page: nothing of the last one stays.
      return <View key={`${door}/${database}/${collection}`} target={target} />;
    }
  }
}

export function Frame() {
  const { place } = usePlace();
  return (
    <main>
      <Suspense fallback={<p className="empty">Loading…</p>}>
        <Shown place={place} />
      </Suspense>
    </main>
  );
}
