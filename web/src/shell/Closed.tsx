// Shown instead of a page whose API is off.
import type { Door } from '../state/place';
import { Banner } from '../ui/Banner';
import { DOOR_NAMES } from './dialogs';

const FLAGS: Record<Door, string> = { nosql: '--cosmos-addr', mongo: '--mongo-addr' };

export function Closed({ door }: { door: Door }) {
  return (
    <div className="page">
      <Banner look="warn">
        <span>
          The {DOOR_NAMES[door]} API is off, so its data cannot be shown. The server was started
          with <code>{FLAGS[door]} off</code>.
        </span>
      </Banner>
    </div>
  );
}
