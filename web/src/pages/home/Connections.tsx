// Both connection strings, to copy.
import { Plug } from 'lucide-react';
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

export function Connections({ facts, hasKey }: { facts: Facts; hasKey: boolean }) {
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
      {cosmos !== null && !hasKey && (
        <p className="hint">
          The account key is shown to those who signed in with one that may write.
        </p>
      )}
      {cosmos !== null && (
        <p className="hint">
          Clients in Java and .NET use <code>https</code> in gateway mode; the certificate is at{' '}
          <code>{endpoint(cosmos)}_explorer/emulator.pem</code>.
        </p>
      )}
    </section>
  );
}
