// Scale & Settings of a collection of the MongoDB door.
import type { Target } from '../../state/place';
export default function MongoSettings({ target }: { target: Target }) {
  return <div className="page">{target.collection}</div>;
}
