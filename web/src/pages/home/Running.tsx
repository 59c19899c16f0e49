// Server status: addresses of the APIs, clock, version.
import { Server } from 'lucide-react';
import { mayWrite, session } from '../../api/session';
import type { Reach } from '../../pure/address';
import { utc } from '../../pure/time/utc';
import { server, useNow } from '../../state/server';
import { useSelected, useStore } from '../../state/store';
import { ManualClock } from '../metrics/ManualClock';
import type { Facts } from './snippets/snippet';

function ClockWords() {
  const now = useNow();
  const mode = useSelected(server, (state) => state.status?.clock.mode);
  if (now === null) return <>not known yet</>;
  return (
    <>
      <span className="home-figures">{utc(now)}</span>
      <span className="hint">
        {mode === 'manual' ? ' · manual, moves only when advanced' : ' · follows the system clock'}
      </span>
    </>
  );
}

/** Buttons that advance a manual clock. */
function Moves() {
  const now = useNow();
  const mode = useSelected(server, (state) => state.status?.clock.mode);
  const allowed = mayWrite(useStore(session));
  if (now === null || mode !== 'manual') return null;
  return (
    <>
      <h3>Move the clock</h3>
      <ManualClock now={now} allowed={allowed} />
    </>
  );
}

/** Describes an API's address and protocol. */
function spoken(reach: Reach | null, usual: string, secure: string): string {
  if (reach === null) return 'off';
  const said = reach.needsTls ? secure : usual;
  return said === '' ? reach.address : `${reach.address} (${said})`;
}

export function Running({ facts, version }: { facts: Facts; version: string }) {
  return (
    <section className="home-card" aria-label="Server status">
      <h2>
        <Server className="icon" />
        Server
      </h2>
      <dl className="home-facts">
        <dt>MongoDB</dt>
        <dd>{spoken(facts.mongo, '', 'TLS only')}</dd>
        <dt>NoSQL</dt>
        <dd>{spoken(facts.cosmos, 'http and https', 'https only')}</dd>
        <dt>Portal</dt>
        <dd>{location.host}</dd>
        <dt>Database clock</dt>
        <dd>
          <ClockWords />
        </dd>
        <dt>Version</dt>
        <dd>{version}</dd>
      </dl>
      <Moves />
    </section>
  );
}
