// Throughput of a container, or of the database whose throughput it shares.
import type { OfferRecord } from '../../../api/nosql';
import { ENFORCED, ThroughputFields } from './ThroughputFields';
import type { ThroughputDraft } from './throughput';

export interface ContainerThroughputProps {
  offer: OfferRecord | null;
  shared: boolean;
  /** Why the offer could not be loaded. */
  failure: string | null;
  database: string;
  draft: ThroughputDraft | null;
  changed: boolean;
  disabled: boolean;
  onDraft: (draft: ThroughputDraft) => void;
}

export function ContainerThroughput(props: ContainerThroughputProps) {
  const { offer, shared, database, draft, changed, disabled, onDraft } = props;
  if (props.failure !== null) {
    return (
      <p className="error" role="alert">
        {`The throughput could not be read: ${props.failure}`}
      </p>
    );
  }
  if (offer === null || draft === null) {
    return (
      <>
        <p>Neither this container nor its database has provisioned throughput.</p>
        <p className="hint">{ENFORCED}</p>
      </>
    );
  }
  return (
    <>
      {shared && (
        <p>
          {`This container shares the throughput of the database ${database}. ` +
            'A change applies to all containers that share it.'}
        </p>
      )}
      <ThroughputFields draft={draft} changed={changed} disabled={disabled} onDraft={onDraft} />
      <p className="hint">{ENFORCED}</p>
    </>
  );
}
