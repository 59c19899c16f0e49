// Table of the fields in a sample: frequency, types, ranges, and values.
import type { FieldFacts, SampleFacts } from '../../pure/schema/fields';
import { filterOfValue } from '../../pure/schema/valueFilter';
import { SYSTEM_FIELDS } from '../../pure/values/system';
import type { Target } from '../../state/place';
import { PlaceLink } from '../../ui/PlaceLink';
import { differentInWords, kindsInWords, percent, rangesOf, readable, telling } from './fieldWords';
import { Share } from './Share';

interface LineProps {
  facts: FieldFacts;
  target: Target;
}

/** Values shown before expanding. */
const FEW = 3;

/** A value, its type if ambiguous, and a link to the documents that have it. */
function Value({ facts, value, target }: LineProps & { value: string }) {
  const filter = filterOfValue(facts.path, value, target.door);
  const { text, kind } = readable(value);
  const shown = <code>{text}</code>;
  return (
    <>
      {filter === null ? (
        shown
      ) : (
        <PlaceLink
          to={{ page: 'collection', view: 'items', ...target }}
          query={{ filter }}
          title={`Show matching: ${filter}`}
        >
          {shown}
        </PlaceLink>
      )}
      {kind !== null && facts.kinds.length > 1 && <span className="hint"> {kind}</span>}
    </>
  );
}

function Values({ facts, target }: LineProps) {
  const values = telling(facts);
  const said = differentInWords(facts);
  const line = ({ value, count }: { value: string; count: number }) => (
    <li key={value}>
      <Value facts={facts} value={value} target={target} />{' '}
      <span className="hint">{percent(count / facts.count)}</span>
    </li>
  );
  return (
    <>
      {values.length > 0 && <ul className="schema-values">{values.slice(0, FEW).map(line)}</ul>}
      {values.length > FEW && (
        <details>
          <summary aria-label={`${values.length - FEW} more values of ${facts.path}`}>
            {values.length - FEW} more
          </summary>
          <ul className="schema-values">{values.slice(FEW).map(line)}</ul>
        </details>
      )}
      {said !== '' && <span className="hint">{said}</span>}
    </>
  );
}

function Line({ facts, target }: LineProps) {
  return (
    <tr>
      <th scope="row" className="mono schema-path">
        {facts.path}
      </th>
      <td>
        <Share share={facts.share} />
      </td>
      <td>{kindsInWords(facts.kinds, facts.count)}</td>
      <td>
        {rangesOf(facts).map((text) => (
          <div key={text}>{text}</div>
        ))}
      </td>
      <td>
        <Values facts={facts} target={target} />
      </td>
    </tr>
  );
}

export function Fields({ facts, target }: { facts: SampleFacts; target: Target }) {
  const isOwn = ({ path }: FieldFacts) => target.door === 'mongo' || !SYSTEM_FIELDS.has(path);
  const shown = facts.fields.filter(isOwn);
  return (
    <section aria-label="Fields">
      <h2>Fields</h2>
      {facts.isCut && <p className="hint">Only the first {shown.length} fields are shown.</p>}
      <div className="schema-scroll" role="region" tabIndex={0} aria-label="Table of fields">
        <table className="schema-table">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Present in</th>
              <th scope="col">Types</th>
              <th scope="col">Range</th>
              <th scope="col">Most frequent values</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((field) => (
              <Line key={field.path} facts={field} target={target} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
