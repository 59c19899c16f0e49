// How the documents of a sample expire, by class, each with a link to its documents.
import { count } from '../../pure/figures/amount';
import { type ClassFacts, classInWords } from '../../pure/schema/expiry';
import { filterOfClass } from '../../pure/schema/filters';
import type { Target } from '../../state/place';
import { PlaceLink } from '../../ui/PlaceLink';
import { Share } from './Share';

export interface ClassesProps {
  target: Target;
  noun: 'item' | 'document';
  classes: readonly ClassFacts[];
  /** Number of live documents; null: the sample is complete. */
  live: number | null;
}

function Line({
  target,
  noun,
  facts,
  live,
}: Omit<ClassesProps, 'classes'> & { facts: ClassFacts }) {
  const words = classInWords(facts.of);
  const filter = filterOfClass(facts.of, target.door);
  return (
    <tr className={facts.of.kind === 'ignored' ? 'schema-ignored' : undefined}>
      <th scope="row">{words}</th>
      <td>
        <Share share={facts.share} />
      </td>
      <td className="schema-number">{count(facts.count)}</td>
      {live !== null && <td className="schema-number">{count(Math.round(facts.share * live))}</td>}
      <td>
        {filter === null ? (
          <span className="hint">none</span>
        ) : (
          <PlaceLink
            to={{ page: 'collection', view: 'items', ...target }}
            query={{ filter }}
            aria-label={`Show ${noun}s: ${words}`}
          >
            Show {noun}s
          </PlaceLink>
        )}
      </td>
    </tr>
  );
}

export function Classes(props: ClassesProps) {
  const { noun, classes, live } = props;
  return (
    <div className="schema-scroll" role="region" tabIndex={0} aria-label={`How ${noun}s expire`}>
      <table className="schema-table">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Share</th>
            <th scope="col" className="schema-number">
              {live === null ? 'Number' : 'In the sample'}
            </th>
            {live !== null && (
              <th scope="col" className="schema-number">
                Estimated total
              </th>
            )}
            <th scope="col">Link</th>
          </tr>
        </thead>
        <tbody>
          {classes.map((facts) => (
            <Line key={JSON.stringify(facts.of)} {...props} facts={facts} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
