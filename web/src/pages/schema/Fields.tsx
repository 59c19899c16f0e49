// The fields of a sample as a table: who has them, of which types, between what, and their values.
import type { FieldFacts, SampleFacts } from '../../pure/schema/fields';
import type { Api } from '../../pure/values/compare';
import { SYSTEM_FIELDS } from '../../pure/values/system';
import { differentInWords, kindsInWords, percent, rangesOf, telling } from './fieldWords';
import { Share } from './Share';

/** Values that are shown at first. */
const FEW = 3;

function Values({ facts }: { facts: FieldFacts }) {
  const values = telling(facts);
  const said = differentInWords(facts);
  const line = ({ value, count }: { value: string; count: number }) => (
    <li key={value}>
      <code>{value}</code> <span className="hint">{percent(count / facts.count)}</span>
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

function Line({ facts }: { facts: FieldFacts }) {
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
        <Values facts={facts} />
      </td>
    </tr>
  );
}

export function Fields({ facts, api }: { facts: SampleFacts; api: Api }) {
  const isOwn = ({ path }: FieldFacts) => api === 'mongo' || !SYSTEM_FIELDS.has(path);
  const shown = facts.fields.filter(isOwn);
  return (
    <section aria-label="Fields">
      <h2>Fields</h2>
      {facts.isCut && <p className="hint">There are more fields than these {shown.length}.</p>}
      <div className="schema-scroll" role="region" tabIndex={0} aria-label="Table of fields">
        <table className="schema-table">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Has it</th>
              <th scope="col">Types</th>
              <th scope="col">From, to</th>
              <th scope="col">Most frequent values</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((field) => (
              <Line key={field.path} facts={field} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
