// Explains a query: statistics, the plan as a tree, and index advice.

import type { PlanNode } from '../../../pure/explain/plan';
import { count, counted } from '../../../pure/figures/amount';
import { Failure } from '../../../ui/Failure';
import { type Figure, Figures } from '../../../ui/Figures';
import { AdviceBanner } from './AdviceBanner';
import type { Explanation } from './explanation';
import type { Explaining } from './useExplanation';

export interface ExplainPanelProps extends Explaining {
  hasRun: boolean;
  onApplied: () => void;
}

/** Formats the known counts of a stage. */
function figuresOf({ keysExamined, documentsExamined, returned }: PlanNode): string {
  const parts = [
    keysExamined === null ? null : `${counted(keysExamined, 'key')} examined`,
    documentsExamined === null ? null : `${counted(documentsExamined, 'document')} examined`,
    returned === null ? null : `${count(returned)} returned`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}

function Stage({ node }: { node: PlanNode }) {
  return (
    <li>
      <span className="explain-stage">
        <strong>{node.stage}</strong>{' '}
        {node.index !== null && (
          <code>
            {node.index}
            {node.keys === null ? '' : ` ${node.keys}`}
          </code>
        )}{' '}
        <span className="hint">{figuresOf(node)}</span>
      </span>
      {node.children.length > 0 && (
        <ul>
          {node.children.map((child, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a plan is immutable.
            <Stage key={at} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function figuresOfPlan({ plan, indexes }: Explanation): Figure[] {
  const known = (value: number | null) => (value === null ? '–' : count(value));
  const used = indexes === null ? '–' : indexes.length === 0 ? 'none' : indexes.join(', ');
  return [
    { name: 'Documents examined', value: known(plan.documentsExamined) },
    { name: 'Documents returned', value: known(plan.returned) },
    { name: 'Index used', value: used },
    { name: 'Time on the server', value: plan.ms === null ? '–' : `${count(plan.ms)} ms` },
  ];
}

export function ExplainPanel({ explanation, failure, hasRun, onApplied }: ExplainPanelProps) {
  if (!hasRun) return <p className="hint">Run a query to see its plan.</p>;
  if (failure !== null) return <Failure error={failure} />;
  if (explanation === null) return <p className="hint">Loading…</p>;
  const { plan, advice, note } = explanation;
  return (
    <>
      {advice !== null && <AdviceBanner advice={advice} onApplied={onApplied} />}
      <Figures label="Of the query" figures={figuresOfPlan(explanation)} />
      {plan.root !== null && (
        <ul className="explain-tree" aria-label="Plan">
          <Stage node={plan.root} />
        </ul>
      )}
      <p className="hint">{note}</p>
    </>
  );
}
