// Shown instead of settings that are loading, failed to load, or belong to a deleted collection.
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Gone } from './Gone';
import type { Loaded } from './useLoaded';

export interface UnreadProps {
  target: Target;
  place: string;
  loaded: Pick<Loaded<unknown>, 'failure' | 'gone' | 'reload'>;
}

export function Unread({ target, place, loaded }: UnreadProps) {
  if (loaded.gone) return <Gone target={target} place={place} onReload={loaded.reload} />;
  if (loaded.failure === null) return <p className="empty">Loading…</p>;
  return (
    <Banner look="bad">
      <span>{`The settings could not be read: ${loaded.failure}`}</span>
      <Button onClick={() => void loaded.reload()}>Try again</Button>
    </Banner>
  );
}
