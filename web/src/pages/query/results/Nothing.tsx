// Shown instead of results: why there are none, and what to do.
import type { Target } from '../../../state/place';
import { PlaceLink } from '../../../ui/PlaceLink';

/** The query returned no results. */
export function Nothing({ target }: { target: Target }) {
  return (
    <p className="empty">
      The query returned no results. Relax its condition, or see{' '}
      <PlaceLink to={{ page: 'collection', view: 'items', ...target }}>
        the contents of {target.collection}
      </PlaceLink>
      .
    </p>
  );
}

/** The query has not been run yet. */
export function NotRun() {
  return (
    <p className="empty">
      Execute a query to see its results. The number of a row opens its document. Saved lists your
      saved queries.
    </p>
  );
}
