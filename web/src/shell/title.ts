// What the browser's tab and the page's heading say about a place. Pure.
import type { Place, View } from '../state/place';

export const VIEW_LABELS: Record<View, string> = {
  items: 'Items',
  schema: 'Schema',
  settings: 'Scale & Settings',
  query: 'Query',
  metrics: 'Metrics',
};

/** "sessions · Scale & Settings · EbbDB". */
export function titleOf(place: Place): string {
  switch (place.page) {
    case 'home':
      return 'EbbDB';
    case 'features':
      return 'Features · EbbDB';
    case 'metrics':
      return 'Metrics · EbbDB';
    case 'database':
      return `${place.database} · EbbDB`;
    case 'collection':
      return `${place.collection} · ${VIEW_LABELS[place.view]} · EbbDB`;
    case 'unknown':
      return 'Not found · EbbDB';
  }
}
