// Scale & Settings of a collection, of whichever door.
import type { Target } from '../../state/place';
import MongoSettings from './MongoSettings';
import NoSqlSettings from './NoSqlSettings';
import './settings.css';

export default function Settings({ target }: { target: Target }) {
  return target.door === 'nosql' ? (
    <NoSqlSettings target={target} />
  ) : (
    <MongoSettings target={target} />
  );
}
