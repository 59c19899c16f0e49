// Running operations and open cursors on a collection of the MongoDB API, with links to their
// queries.
import { open } from '../../../api/mongo';
import { count } from '../../../pure/figures/amount';
import { latency } from '../../../pure/figures/latency';
import type { Target } from '../../../state/place';
import { usePolled } from '../../../state/polled';
import { Figures } from '../../../ui/Figures';
import { Asked, OpenInQuery } from '../slow/Asked';
import { textOf } from '../slow/shapes';
import { type Activity, activityOf, type RunningOperation } from './running';

const REFRESH_MS = 5000;

/** Runs in the background: a refused request is not reported at every poll. */
async function read(target: Target): Promise<Activity> {
  const pipeline = [
    { $currentOp: { allUsers: true, idleCursors: true } },
    { $match: { ns: `${target.database}.${target.collection}` } },
  ];
  const command = { aggregate: 1, pipeline, cursor: { batchSize: 1000 } };
  const { documents } = await open('admin', command, { quiet: true, aside: true });
  return activityOf(documents, target);
}

function Line({ running }: { running: RunningOperation }) {
  const { asked, seconds, client } = running;
  return (
    <tr>
      <th scope="row">{asked.operation}</th>
      <td className="chart-number">{latency(seconds)}</td>
      <td className="metrics-names">{client}</td>
      <td className="slow-text">
        <Asked text={textOf(asked)} />
      </td>
      <td className="slow-link">
        <OpenInQuery slow={asked} />
      </td>
    </tr>
  );
}

function Listed({ operations }: { operations: readonly RunningOperation[] }) {
  return (
    <div className="metrics-scroll" role="region" aria-label="Running operations" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Running operations</caption>
        <thead>
          <tr>
            {['Operation', 'Duration', 'Client', 'Query', 'Link'].map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {operations.map((running) => (
            <Line key={running.id} running={running} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Renders nothing if the state is unknown; a banner reports an unreachable server. */
export function Running({ target }: { target: Target }) {
  const { value } = usePolled(() => read(target), REFRESH_MS);
  if (value === null) return null;
  const { operations, cursors } = value;
  return (
    <>
      <h2>Now</h2>
      <Figures
        label="Now"
        figures={[
          { name: 'Running operations', value: count(operations.length) },
          {
            name: 'Open cursors',
            value: count(cursors.open),
            hint: `${count(cursors.idle)} idle`,
          },
        ]}
      />
      {operations.length > 0 && <Listed operations={operations} />}
    </>
  );
}
