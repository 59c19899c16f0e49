// Table of slow operations grouped by shape; each row expands to single operations and links to its
// query.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import { count } from '../../../pure/figures/amount';
import { utc } from '../../../pure/time/utc';
import { Asked, ms, OpenInQuery } from './Asked';
import { type Shape, textOf } from './shapes';

/** Maximum number of rows; the command line lists all. */
export const SHOWN = 50;

function Heads({ heads }: { heads: readonly string[] }) {
  return (
    <thead>
      <tr>
        {heads.map((head) => (
          <th scope="col" key={head}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
  );
}

const SINGLE_HEADS = ['Ended', 'Took', 'Examined', 'Returned', 'Plan', 'Query', 'Link'];

function Singles({ shape: { operations } }: { shape: Shape }) {
  return (
    <>
      <table>
        <caption className="visually-hidden">Single operations</caption>
        <Heads heads={SINGLE_HEADS} />
        <tbody>
          {operations.slice(0, SHOWN).map((slow, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal.
            <tr key={`${slow.at} ${at}`}>
              <td>
                {utc(Date.parse(slow.at))}
                {slow.failed === true && <span className="error"> failed</span>}
              </td>
              <td className="chart-number">{ms(slow.duration_ms)}</td>
              <td className="chart-number">{count(slow.examined)}</td>
              <td className="chart-number">{count(slow.returned)}</td>
              <td>{slow.plan ?? ''}</td>
              <td className="slow-text">
                <Asked text={textOf(slow)} />
              </td>
              <td className="slow-link">
                <OpenInQuery slow={slow} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {operations.length > SHOWN && <p className="hint">The last {SHOWN} are shown.</p>}
    </>
  );
}

interface LineProps {
  shape: Shape;
  /** Shows the collection, for lists of several. */
  isNamed: boolean;
}

function Line({ shape, isNamed }: LineProps) {
  const [isOpen, open] = useState(false);
  const id = useId();
  const slowest = shape.operations.find(({ duration_ms }) => duration_ms === shape.longestMs);
  if (slowest === undefined) return null;
  const { operation, database, collection } = slowest;
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const times = count(shape.operations.length);
  const often = shape.operations.length === 1 ? 'once' : `${times} times`;
  return (
    <>
      <tr className={isOpen ? 'slow-open' : undefined}>
        <th scope="row">
          <button
            type="button"
            className="slow-fold"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-label={`${operation}${collection === '' ? '' : ` of ${collection}`}, ${often}`}
            onClick={() => open(!isOpen)}
          >
            <Chevron className="icon" aria-hidden="true" />
            {operation}
          </button>
          {shape.failed > 0 && (
            <span className="error">
              {shape.operations.length === 1 ? ' failed' : ` ${count(shape.failed)} failed`}
            </span>
          )}
        </th>
        {isNamed && (
          <td className="metrics-names">
            {[database, collection].filter((name) => name !== '').join(' › ')}
          </td>
        )}
        <td className="slow-text">
          <Asked text={shape.text} />
        </td>
        <td className="chart-number">{times}</td>
        <td className="chart-number">{ms(shape.longestMs)}</td>
        <td className="chart-number">{ms(shape.totalMs)}</td>
        <td className="slow-last">{utc(Date.parse(shape.last))}</td>
        <td className="slow-link">
          <OpenInQuery slow={slowest} />
        </td>
      </tr>
      {isOpen && (
        <tr id={id}>
          <td colSpan={isNamed ? 8 : 7} className="slow-singles">
            <Singles shape={shape} />
          </td>
        </tr>
      )}
    </>
  );
}

export function ShapeTable({ shapes, isNamed }: { shapes: readonly Shape[]; isNamed: boolean }) {
  const named = isNamed ? ['Collection'] : [];
  const heads = ['Operation', ...named, 'Query', 'Times', 'Longest', 'Total', 'Last', 'Link'];
  return (
    <div className="metrics-scroll" role="region" aria-label="Slow operations" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Slow operations</caption>
        <Heads heads={heads} />
        <tbody>
          {shapes.slice(0, SHOWN).map((shape) => (
            <Line key={shape.key} shape={shape} isNamed={isNamed} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
