// Number of deleted documents that can be restored, and for how long.
import { count } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { useBin, useTimeLeft } from './bin';

export interface BinNoteProps {
  target: Target;
  isShown: boolean;
  onShow: (shown: boolean) => void;
}

export function BinNote({ target, isShown, onShow }: BinNoteProps) {
  const { size } = useBin(target);
  const left = useTimeLeft(target);
  return (
    <span className="items-bin">
      {count(size)} deleted, expiring within {left} s{' '}
      <Button look="quiet" aria-pressed={isShown} onClick={() => onShow(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </Button>
    </span>
  );
}
