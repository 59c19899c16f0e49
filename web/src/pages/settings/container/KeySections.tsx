// The immutable properties of a container: partition key and unique keys.
import type { ContainerRecord } from '../../../api/nosql';

export function PartitionKeySection({ record }: { record: ContainerRecord }) {
  const { paths = [], kind, version } = record.partitionKey ?? { paths: [] };
  return (
    <>
      {paths.length === 0 ? (
        <p>This container was created without a partition key.</p>
      ) : (
        <dl className="settings-facts">
          <dt>{paths.length === 1 ? 'Path' : 'Paths, from the first level on'}</dt>
          <dd>
            {paths.map((path) => (
              <code key={path}>{path}</code>
            ))}
          </dd>
          <dt>Kind</dt>
          <dd>{kind ?? 'Hash'}</dd>
          <dt>Version</dt>
          <dd>{version ?? 1}</dd>
        </dl>
      )}
      <p className="hint">
        The partition key cannot be changed, because it determines where items are stored. To use
        another one, create a new container and copy the items.
      </p>
    </>
  );
}

export function UniqueKeysSection({ record }: { record: ContainerRecord }) {
  const keys = record.uniqueKeyPolicy?.uniqueKeys ?? [];
  return (
    <>
      {keys.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul>
          {keys.map(({ paths }) => (
            <li key={paths.join()}>
              <code>{paths.join(', ')}</code>
            </li>
          ))}
        </ul>
      )}
      <p className="hint">
        Values are unique within a partition key value; expired items do not count. Unique keys
        cannot be changed: to use others, create a new container.
      </p>
    </>
  );
}
