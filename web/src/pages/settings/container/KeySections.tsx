// The immutable properties of a container: partition key and unique keys.
import type { ContainerRecord } from '../../../api/nosql';

export function PartitionKeySection({ record }: { record: ContainerRecord }) {
  const { paths = [], kind, version } = record.partitionKey ?? { paths: [] };
  return (
    <>
      {paths.length === 0 ? (
        <p>This container was made without a partition key.</p>
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
        It cannot be changed: every item lies where the value of its partition key puts it. For
        another one, make a new container and copy the items.
      </p>
    </>
  );
}

export function UniqueKeysSection({ record }: { record: ContainerRecord }) {
  const keys = record.uniqueKeyPolicy?.uniqueKeys ?? [];
  return (
    <>
      {keys.length === 0 ? (
        <p>There are none.</p>
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
        Values are unique within one value of the partition key; an item that has expired holds
        none. They cannot be changed, since what is there was only ever checked against them. For
        others, make a new container.
      </p>
    </>
  );
}
