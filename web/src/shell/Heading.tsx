// The page heading: breadcrumb, and the tabs of a collection.
import { Link2, Trash2 } from 'lucide-react';
import { mayWrite, session } from '../api/session';
import { type Place, VIEWS } from '../state/place';
import { go } from '../state/router';
import { useStore } from '../state/store';
import { isAbsent, tree } from '../state/tree';
import { Button } from '../ui/Button';
import { PlaceLink } from '../ui/PlaceLink';
import { Tabs } from '../ui/Tabs';
import { copyLink } from './copyLink';
import { DOOR_NAMES, dialog, noun, READ_ONLY } from './dialogs';
import { viewLabel } from './title';

export const PANEL = 'panel';

/** Returns the id of the tab that labels the panel. */
export function tabOf(view: string): string {
  return `${PANEL}-tab-${view}`;
}

function DeleteButton({ place }: { place: Extract<Place, { door: unknown }> }) {
  const may = mayWrite(useStore(session));
  const { door, database } = place;
  const isDatabase = place.page === 'database';
  return (
    <Button
      look="quiet"
      className="heading-link"
      disabled={!may}
      title={may ? undefined : READ_ONLY}
      onClick={() =>
        dialog.set(
          isDatabase
            ? { kind: 'delete-database', door, database }
            : {
                kind: 'delete-collection',
                target: { door, database, collection: place.collection },
              },
        )
      }
    >
      <Trash2 className="icon" />
      <span>Delete {isDatabase ? 'database' : noun(door)}</span>
    </Button>
  );
}

function CopyLink() {
  return (
    <Button
      look="quiet"
      className="heading-link"
      title="Copies a link to this page"
      onClick={() => void copyLink()}
    >
      <Link2 className="icon" />
      <span>Copy link</span>
    </Button>
  );
}

export function Heading({ place }: { place: Place }) {
  const known = useStore(tree);
  if (place.page !== 'database' && place.page !== 'collection') return null;
  const { door, database } = place;
  const isHere = !isAbsent(known, place);
  return (
    <div className="frame-heading">
      <h1>
        {place.page === 'database' ? (
          <bdi>{database}</bdi>
        ) : (
          <>
            <PlaceLink to={{ page: 'database', door, database }}>
              <bdi>{database}</bdi>
            </PlaceLink>{' '}
            <span className="hint">›</span> <bdi>{place.collection}</bdi>
          </>
        )}
      </h1>
      <span className={`badge ${door}`}>{DOOR_NAMES[door]}</span>
      <span className="top-space" />
      <CopyLink />
      {/* The key prevents the focus from returning to a button that deletes something else. */}
      {isHere && <DeleteButton key={place.page} place={place} />}
      {isHere && place.page === 'collection' && (
        <Tabs
          label={`Views of ${place.collection}`}
          tabs={VIEWS.map((key) => ({ key, label: viewLabel(key) }))}
          selected={place.view}
          onSelect={(view) => go({ ...place, view })}
          panel={PANEL}
        />
      )}
    </div>
  );
}
