// All indexes of a MongoDB collection, to look at.
import type { IndexRecord } from '../../../api/mongo';
import { documentText, filterOf, secondsInWords, traits } from './indexWords';

export function IndexTable({ indexes }: { indexes: readonly IndexRecord[] }) {
  return (
    <div className="settings-scroll" role="region" tabIndex={0} aria-label="Indexes">
      <table className="settings-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Key</th>
            <th scope="col">Expires after</th>
            <th scope="col">State</th>
            <th scope="col">Partial filter</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <tr key={index.name}>
              <th scope="row">{index.name}</th>
              <td className="mono settings-text">{documentText(index.key)}</td>
              <td>{secondsInWords(index.expireAfterSeconds)}</td>
              <td>{traits(index)}</td>
              <td className="mono settings-text">{filterOf(index)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
