// Scale & Settings of a collection, of whichever door.
import { lazy } from 'react';
import type { Target } from '../../state/place';
import './settings.css';

const NoSqlSettings = lazy(() => import('./NoSqlSettings'));
const MongoSettings = lazy(() => import('./MongoSettings'));

export default function Settings({ target }: { target: Target }) {
  return target.door === 'nosql' ? <NoSqlSettings target={target} /> : <MongoSettings target={target} />;
}
