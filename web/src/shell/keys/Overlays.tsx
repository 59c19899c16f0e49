// Renders the overlays, loaded on first use.
import { Suspense } from 'react';
import { useStore } from '../../state/store';
import { part } from '../../ui/part';
import { Failed } from '../Failed';
import { overlay } from './overlay';
import { Typeahead } from './Typeahead';

const Palette = part(() => import('../palette/Palette'));
const Sheet = part(() => import('./Sheet'));
const Advance = part(() => import('../palette/Advance'));

const close = () => overlay.set(null);

export function Overlays() {
  const shown = useStore(overlay);
  if (shown === null) return null;
  return (
    <Failed>
      <Suspense fallback={shown.kind === 'palette' ? <Typeahead /> : null}>
        {shown.kind === 'palette' && <Palette typed={shown.typed ?? ''} onClose={close} />}
        {shown.kind === 'sheet' && <Sheet onClose={close} />}
        {shown.kind === 'advance' && <Advance seconds={shown.seconds} onClose={close} />}
      </Suspense>
    </Failed>
  );
}
