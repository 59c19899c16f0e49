// The home page: server status, connection strings, first programs, a sample whose documents expire
// while one watches, and upcoming expirations.
import { session } from '../../api/session';
import { reachable } from '../../pure/address';
import { useStore } from '../../state/store';
import { AccountForecast } from './AccountForecast';
import { Connections } from './Connections';
import { Programs } from './Programs';
import { Running } from './Running';
import { Sample } from './Sample';
import type { Facts } from './snippets/snippet';
import './home.css';

const NO_KEY = '<account key>';

export default function Home() {
  const known = useStore(session);
  if (known === null) return null;
  const at = (door: 'mongo' | 'cosmos') => {
    const address = known.doors[door];
    if (address === null) return null;
    return { address: reachable(address, location.hostname), needsTls: known.needsTls[door] };
  };
  const facts: Facts = {
    mongo: at('mongo'),
    cosmos: at('cosmos'),
    key: known.key ?? NO_KEY,
  };
  return (
    <div className="page home">
      <h1>EbbDB is running</h1>
      <div className="home-columns">
        <div>
          <Running facts={facts} version={known.version} />
          <Sample />
        </div>
        <AccountForecast />
      </div>
      <Connections facts={facts} hasKey={known.key !== null} openToAll={known.openToAll} />
      <Programs facts={facts} />
    </div>
  );
}
