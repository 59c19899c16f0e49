// A collection that is not there any more.

import type { Target } from '../../../state/place';
import { loadTreeWith } from '../../../state/tree';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';

export interface GoneProps {
  target: Target;
  place: string;
  /** It may have been made anew. */
  onReload: () => Promise<void>;
}

export function Gone({ target, place, onReload }: GoneProps) {
  const reload = async () => {
    await Promise.all([loadTreeWith(target), onReload()]);
  };
  return (
    <Banner look="bad">
      <span>{`The ${place} ${target.collection} is not there any more: it was deleted meanwhile.`}</span>
      <Button onClick={() => void reload()}>Reload the tree</Button>
    </Banner>
  );
}
