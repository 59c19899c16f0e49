// The effect of a field change, shown before it starts.
import { counted } from '../../../../pure/figures/amount';
import type { Row, Source } from '../../source';
import { MOST_UNDONE } from '../many';
import type { FieldChange } from './change';
import { changedWords, factsOf, restartWords } from './facts';

export interface FieldPreviewProps {
  source: Source;
  change: FieldChange;
  /** The selected rows, or the loaded ones among all matches. */
  rows: readonly Row[];
  /** Number of affected items; null: not known. */
  n: number | null;
}

export function FieldPreview({ source, change, rows, n }: FieldPreviewProps) {
  const facts = factsOf(rows, change, source);
  const { example } = facts;
  return (
    <div className="many-preview" role="status">
      <p>{changedWords(facts, n)}</p>
      {example !== null && (
        <dl aria-label="Example">
          <dt>Example</dt>
          <dd className="mono">{example.name}</dd>
          <dt>Before</dt>
          <dd className="mono">{example.before}</dd>
          <dt>After</dt>
          <dd className="mono">{example.after}</dd>
        </dl>
      )}
      {facts.changed.length > 0 && <p>{restartWords(source, facts.changed)}</p>}
      <p>
        {n !== null && n > MOST_UNDONE
          ? `Undo is available for up to ${counted(MOST_UNDONE, source.noun)}.`
          : 'Undo is available for a minute, except where others make changes in the meantime.'}
      </p>
    </div>
  );
}
