// A notice that the collection was deleted.

import type { Target } from '../../../state/place';
import { useStore } from '../../../state/store';
import { isAbsent, loadTreeWith, tree } from '../../../state/tree';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';

export interface GoneProps {
  target: Target;
  place: string;
  /** Checks again: it may have been recreated. */
  onReload: () => Promise<void>;
}

export function Gone({ target, place, onReload }: GoneProps) {
  // The banner above every page reports it once the tree is reloaded.
  if (isAbsent(useStore(tree), { page: 'collection', view: 'settings', ...target })) return null;
  const reload = async () => {
    await Promise.all([loadTreeWith(target), onReload()]);
  };
  return (
    <Banner look="bad">
      <span>{`The ${place} ${target.collection} no longer exists: it was deleted.`}</span>
      <Button onClick={() => void reload()}>Reload the tree</Button>
    </Banner>
  );
}
