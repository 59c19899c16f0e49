// What stands in the place of results: why there are none, and what can be done.
import type { Target } from '../../../state/place';
import { PlaceLink } from '../../../ui/PlaceLink';

/** It was run. */
export function Nothing({ target }: { target: Target }) {
  return (
    <p className="empty">
      The query returned nothing. Loosen its condition, or see{' '}
      <PlaceLink to={{ page: 'collection', view: 'items', ...target }}>
        what is in {target.collection}
      </PlaceLink>
      .
    </p>
  );
}

/** It was not run yet. */
export function NotRun() {
  return (
    <p className="empty">
      Execute query shows the results here, and opens an item by its row. Saved has the queries that
      you keep.
    </p>
  );
}
