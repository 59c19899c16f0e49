// A collection that is not there any more.

import type { Target } from '../../../state/place';
import { useStore } from '../../../state/store';
import { isAbsent, loadTreeWith, tree } from '../../../state/tree';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';

export interface GoneProps {
  target: Target;
  place: string;
  /** It may have been made anew. */
  onReload: () => Promise<void>;
}

export function Gone({ target, place, onReload }: GoneProps) {
  // The tree says it above every page, when it has been read again.
  if (isAbsent(useStore(tree), { page: 'collection', view: 'settings', ...target })) return null;
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
