// Settings of a collection in either API.
import type { Target } from '../../state/place';
import MongoSettings from './MongoSettings';
import NosqlSettings from './NosqlSettings';
import './settings.css';

export default function Settings({ target }: { target: Target }) {
  return target.door === 'nosql' ? (
    <NosqlSettings target={target} />
  ) : (
    <MongoSettings target={target} />
  );
}
