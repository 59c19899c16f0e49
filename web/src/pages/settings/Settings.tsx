// Scale & Settings of a collection.
import type { Target } from '../../state/place';
export default function Settings({ target }: { target: Target }) {
  return <div className="page">{target.collection}</div>;
}
