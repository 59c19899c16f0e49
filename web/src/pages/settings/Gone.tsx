// A collection that is not there any more.
import { loadCollections, loadTree } from '../../state/tree';
import type { Target } from '../../state/place';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';

export function Gone({ target, place }: { target: Target; place: string }) {
  const reload = async () => {
    await loadTree();
    await loadCollections(target.door, target.database);
  };
  return (
    <Banner look="bad">
      <span>{`The ${place} ${target.collection} is not there any more: it was deleted meanwhile.`}</span>
      <Button onClick={() => void reload()}>Reload the tree</Button>
    </Banner>
  );
}
