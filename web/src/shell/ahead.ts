// Prefetches everything the first page needs: the session, the tree, the collection, the page's
// code.
import { aheadOfForecast } from '../api/admin';
import { aheadOfCommands } from '../api/mongo';
import { aheadOf } from '../api/nosql';
import { aheadOfSession } from '../api/session';
import { type Place, parsePlace } from '../state/place';
import { loadPage } from './Shown';

function ofPlace(place: Place): void {
  const isNosql = 'door' in place && place.door === 'nosql';
  if (!isNosql) aheadOf();
  else if (place.page === 'database') aheadOf(place.database);
  else aheadOf(place.database, place.collection);
  if (place.page === 'collection') aheadOfForecast(place);
}

export function askForFirstPage(): void {
  aheadOfSession();
  aheadOfCommands().catch(() => {
    // The first command retries.
  });
  const place = parsePlace(location.pathname);
  loadPage(place);
  try {
    ofPlace(place);
  } catch {
    // A name that a browser cannot request; the page reports it.
  }
}
