// Shows a pipeline stage by stage: disable, move or add a stage, see its output, run up to it. The
// editor's text is authoritative; changes here rewrite only the affected stages.
import { useEffect, useId, useRef, useState } from 'react';
import type { Mistake } from '../../../pure/reader';
import { added, moved, switched } from '../../../pure/shell/editing';
import { type Pipeline, pipelineText, readPipeline } from '../../../pure/shell/stages';
import type { Target } from '../../../state/place';
import { MenuButton } from '../../../ui/MenuButton';
import { LABELS } from '../command';
import { Problems } from '../Problems';
import { InputError } from '../problem';
import { StageRow } from './StageRow';
import { operatorOf, TEMPLATES } from './templates';
import { writesUpTo } from './writing';
import './stages.css';

export interface StagesPanelProps {
  target: Target;
  pipeline: string;
  onChange: (text: string) => void;
  onRunUpTo: (pipeline: string) => void;
}

/** The last move of a stage, so that the focus follows it. */
interface Move {
  at: number;
  by: -1 | 1;
}

function useMoves(rows: { current: HTMLOListElement | null }) {
  const [move, setMove] = useState<Move | null>(null);
  useEffect(() => {
    if (move === null) return;
    const row = rows.current?.children[move.at];
    const button = (name: string) => row?.querySelector<HTMLButtonElement>(`[data-move="${name}"]`);
    const [same, other] = move.by < 0 ? ['up', 'down'] : ['down', 'up'];
    const wanted = button(same ?? '');
    (wanted?.disabled === true ? button(other ?? '') : wanted)?.focus();
  }, [move, rows]);
  return setMove;
}

function Rows(
  props: StagesPanelProps & { read: Pipeline; change: (to: string | Mistake) => boolean },
) {
  const { target, pipeline, read, change, onRunUpTo } = props;
  const [open, setOpen] = useState<number | null>(null);
  const [said, say] = useState('');
  const rows = useRef<HTMLOListElement>(null);
  const setMove = useMoves(rows);
  const { stages } = read;
  const move = (at: number, by: -1 | 1) => {
    if (!change(moved(pipeline, at, by))) return;
    setMove({ at: at + by, by });
    say(`${stages[at]?.operator || 'It'} is stage ${at + by + 1} now.`);
  };
  if (stages.length === 0)
    return <p className="empty">The pipeline has no stages: it returns every document.</p>;
  return (
    <>
      <ol className="stages" ref={rows}>
        {stages.map((stage, at) => (
          <StageRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a stage is identified by its position.
            key={at}
            target={target}
            stage={stage}
            number={at + 1}
            upTo={pipelineText(read, at)}
            isFirst={at === 0}
            isLast={at === stages.length - 1}
            isOpen={open === at}
            writes={writesUpTo(read, at)}
            onOpen={(isOpen) => setOpen(isOpen ? at : null)}
            onSwitch={(isOff) => change(switched(pipeline, at, isOff))}
            onMove={(by) => move(at, by)}
            onRunUpTo={onRunUpTo}
          />
        ))}
      </ol>
      <p className="visually-hidden" role="status">
        {said}
      </p>
    </>
  );
}

export function StagesPanel(props: StagesPanelProps) {
  const { target, pipeline, onChange } = props;
  const id = useId();
  const read = readPipeline(pipeline.trim() === '' ? '[]' : pipeline);
  const change = (to: string | Mistake) => {
    if (typeof to === 'string') onChange(to);
    return typeof to === 'string';
  };
  if ('error' in read) {
    const error = new InputError(read.error, LABELS.pipeline, pipeline, read.at);
    return <Problems error={error} text="" target={target} />;
  }
  return (
    <section aria-labelledby={id} className="stages-panel">
      <h2 id={id} className="visually-hidden">
        Stages of the pipeline
      </h2>
      <Rows {...props} read={read} change={change} />
      <div className="row">
        <MenuButton
          label="Stages to add"
          items={TEMPLATES.map((template) => ({
            label: operatorOf(template),
            onChoose: () => change(added(pipeline, template)),
          }))}
        >
          Add stage
        </MenuButton>
        <span className="hint">
          Disabled stages are commented out. $out and $merge are not run here.
        </span>
      </div>
    </section>
  );
}
