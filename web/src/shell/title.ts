// Titles of a place for the browser tab and the heading. Pure.
import type { Place, View } from '../state/place';

const VIEW_LABELS: Record<View, string> = {
  items: 'Items',
  schema: 'Schema',
  settings: 'Scale & settings',
  query: 'Query',
  metrics: 'Metrics',
};

/** Returns the label of a collection view. */
export function viewLabel(view: View): string {
  return VIEW_LABELS[view];
}

/** "sessions · Scale & settings · EbbDB". */
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
      return `${place.collection} · ${viewLabel(place.view)} · EbbDB`;
    case 'unknown':
      return 'Not found · EbbDB';
  }
}
