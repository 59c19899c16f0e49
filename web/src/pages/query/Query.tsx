// The query tab: the language of the collection's door.
import type { Target } from '../../state/place';
import { MongoQuery } from './MongoQuery';
import { NosqlQuery } from './NosqlQuery';

export default function Query({ target }: { target: Target }) {
  return target.door === 'nosql' ? <NosqlQuery target={target} /> : <MongoQuery target={target} />;
}
