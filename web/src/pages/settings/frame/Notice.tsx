// A notice while settings are edited: the collection was deleted, or another user has saved.
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Gone } from './Gone';
import type { Saving } from './saving';
import type { Loaded } from './useLoaded';

export interface NoticeProps {
  target: Target;
  place: string;
  loaded: Pick<Loaded<unknown>, 'failure' | 'gone' | 'reload'>;
  saving: Saving<unknown>;
  /** The object that another user has changed. */
  what: string;
}

export function Notice({ target, place, loaded, saving, what }: NoticeProps) {
  return (
    <>
      {loaded.gone && <Gone target={target} place={place} onReload={loaded.reload} />}
      {saving.stale && saving.conflict === null && (
        <Banner look="warn">
          <span>{`Someone else has changed ${what}.`}</span>
          <Button onClick={saving.compare}>Compare</Button>
        </Banner>
      )}
    </>
  );
}
