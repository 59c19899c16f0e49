// A notice that the collection was deleted; hidden if the page-wide banner reports it.

import type { Target } from '../../state/place';
import { useStore } from '../../state/store';
import { isAbsent, loadTreeWith, tree } from '../../state/tree';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';

export function Missing({ target }: { target: Target }) {
  const isSaid = isAbsent(useStore(tree), { page: 'collection', view: 'items', ...target });
  if (isSaid) return null;
  const reload = () => {
    void loadTreeWith(target);
  };
  return (
    <Banner look="bad">
      {target.door === 'mongo' ? 'The collection' : 'The container'} {target.database} ›{' '}
      {target.collection} no longer exists. <Button onClick={reload}>Reload the tree</Button>
    </Banner>
  );
}
