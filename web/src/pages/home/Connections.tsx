// Both connection strings, with copy buttons.
import { Plug } from 'lucide-react';
import type { Session } from '../../api/session';
import { connectionString, endpoint, mongoUri } from '../../pure/address';
import { CopyButton } from '../../ui/CopyButton';
import type { Facts } from './snippets/snippet';

function Line({ label, text }: { label: string; text: string }) {
  return (
    <div className="home-connection">
      <dt>{label}</dt>
      <dd>
        <code tabIndex={0} role="group" aria-label={label}>
          {text}
        </code>
        <CopyButton text={text} label={label} />
      </dd>
    </div>
  );
}

const ANYONE = 'Anyone who can reach this address may read and write.';

interface Props {
  facts: Facts;
  hasKey: boolean;
  openToAll: Session['openToAll'];
}

export function Connections({ facts, hasKey, openToAll }: Props) {
  const { mongo, cosmos, key } = facts;
  return (
    <section className="home-card" aria-label="Connection strings">
      <h2>
        <Plug className="icon" />
        Connect
      </h2>
      <dl className="home-connections">
        {mongo !== null && <Line label="MongoDB connection string" text={mongoUri(mongo)} />}
        {cosmos !== null && (
          <>
            <Line label="NoSQL connection string" text={connectionString(cosmos, key)} />
            <Line label="NoSQL endpoint" text={endpoint(cosmos)} />
            {hasKey && <Line label="Primary key" text={key} />}
          </>
        )}
      </dl>
      {mongo !== null && (
        <p className="hint">
          MongoDB: {openToAll.mongo ? ANYONE : 'Users log in and do what their roles permit.'}
        </p>
      )}
      {cosmos !== null && (
        <p className="hint">
          NoSQL:{' '}
          {openToAll.cosmos
            ? `${ANYONE} The emulator key is public.`
            : 'Clients need a key of the account; read-only keys cannot write.'}
        </p>
      )}
      {cosmos !== null && !hasKey && (
        <p className="hint">Sign in with a read-write key to see the account key.</p>
      )}
      {cosmos !== null && (
        <p className="hint">
          Clients in Java and .NET use TLS for items, also with an endpoint in <code>http</code>,
          and must trust the certificate: <code>ebb cert export FILE</code> writes it and prints
          how. For tests, .NET takes <code>DisableServerCertificateValidation=True</code> in the
          connection string, and Java the system property{' '}
          <code>COSMOS.EMULATOR_SERVER_CERTIFICATE_VALIDATION_DISABLED=true</code> for a server on
          the same machine.
        </p>
      )}
    </section>
  );
}
