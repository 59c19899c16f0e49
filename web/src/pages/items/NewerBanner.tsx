// A notice that the open item was changed elsewhere: the new version is shown, or offered if there
// is a draft.
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import type { Source } from './source';
import type { Item } from './useItem';

export function NewerBanner({ source, item }: { source: Source; item: Item }) {
  if (item.newer !== null && item.theirs === null)
    return (
      <Banner look="warn">
        This {source.noun} has changed since you opened it. Your edits are kept.{' '}
        <Button onClick={item.compare}>Compare and merge</Button>
      </Banner>
    );
  if (!item.isRenewed || item.dirty) return null;
  return <Banner>Just changed by another client: showing the latest version.</Banner>;
}
