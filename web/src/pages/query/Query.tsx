// The query tab.
import type { Target } from '../../state/place';
export default function Query({ target }: { target: Target }) {
  return <div className="page">{target.collection}</div>;
}
