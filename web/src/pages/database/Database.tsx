// A database: what lies in it.
import type { Door } from '../../state/place';
export default function Database({ door, database }: { door: Door; database: string }) {
  return <div className="page">{door} {database}</div>;
}
