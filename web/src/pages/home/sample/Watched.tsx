// One collection of the sample as it empties: a count polled every second, and the documents that
// expire next.
import { useEffect, useState } from 'react';
import { forecast } from '../../../api/admin';
import { words } from '../../../api/http';
import { count } from '../../../pure/figures/amount';
import { countdown } from '../../../pure/time/duration';
import { DOOR_NAMES } from '../../../shell/dialogs';
import { useNow, useServerChanges } from '../../../state/server';
import { PlaceLink } from '../../../ui/PlaceLink';
import { alive, type Life, livesOf } from './lives';
import type { Part } from './loaded';

const AGAIN_MS = 1000;
const SHOWN = 12;

/** Polls the number of live documents every second while the page is visible. */
function useLive({ target }: Part, again: unknown) {
  const [live, setLive] = useState<number | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const { door, database, collection } = target;
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      let failed: string | null = null;
      if (document.visibilityState === 'visible') {
        try {
          const found = await forecast({ door, database, collection });
          if (!stopped) setLive(found.live.documents);
        } catch (error) {
          failed = words(error);
        }
      }
      if (stopped) return;
      setFailure(failed);
      // After a failure, polls again only when the server's state changes: a deleted sample stays
      // deleted.
      if (failed === null) timer = setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [door, database, collection, again]);
  return { live, failure };
}

/** Loads the documents and their deadlines once; the clock determines the rest. */
function useLives({ target }: Part, again: unknown): readonly Life[] {
  const [lives, setLives] = useState<readonly Life[]>([]);
  const { door, database, collection } = target;
  useEffect(() => {
    let stopped = false;
    const at = { door, database, collection };
    const ask = async () => livesOf(at, (await forecast(at)).default);
    ask().then(
      (found) => {
        if (!stopped) setLives(found);
      },
      () => {
        // The failure is in the console; counting continues.
      },
    );
    return () => {
      stopped = true;
    };
  }, [door, database, collection, again]);
  return lives;
}

export function Watched({ part, round }: { part: Part; round: number }) {
  const changes = useServerChanges();
  const now = useNow();
  const again = `${round} ${changes}`;
  const { live, failure } = useLive(part, again);
  const lives = useLives(part, again);
  const { target, whole } = part;
  const living = now === null ? [] : alive(lives, now);
  const next = living.filter((life) => life.expiresAtMs !== null).slice(0, SHOWN);
  const left = live ?? whole;
  return (
    <div className="home-watched">
      <p>
        <span className="badge">{DOOR_NAMES[target.door]}</span>{' '}
        <PlaceLink to={{ page: 'collection', view: 'items', ...target }}>
          {target.database} › {target.collection}
        </PlaceLink>
        : <strong>{`${count(left)} of ${count(whole)} sessions left`}</strong>
      </p>
      <progress
        aria-label={`Live sessions, ${DOOR_NAMES[target.door]}`}
        max={Math.max(whole, left, 1)}
        value={left}
      />
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      <ul className="home-lives" aria-label={`Next to expire, ${DOOR_NAMES[target.door]}`}>
        {next.map((life) => (
          <li key={life.name}>
            <span className="home-life">{life.name}</span>{' '}
            <span className="home-figures">{countdown((life.expiresAtMs ?? 0) - (now ?? 0))}</span>
          </li>
        ))}
        {next.length === 0 && live !== null && <li className="hint">Nothing else will expire.</li>}
      </ul>
    </div>
  );
}
