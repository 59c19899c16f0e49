// One stage of a pipeline: enabled state, text, position, and its output.
import { useId } from 'react';
import type { Stage } from '../../../pure/shell/stages';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { StageDocuments } from './StageDocuments';

export interface StageRowProps {
  target: Target;
  stage: Stage;
  /** Position from 1. */
  number: number;
  /** The pipeline up to and including it. */
  upTo: string;
  isFirst: boolean;
  isLast: boolean;
  isOpen: boolean;
  /** Whether it or an earlier stage writes. */
  writes: boolean;
  onOpen: (isOpen: boolean) => void;
  onSwitch: (isOff: boolean) => void;
  onMove: (by: -1 | 1) => void;
  onRunUpTo: (pipeline: string) => void;
}

const SHORT = 160;
const WRITES = 'Stages up to here write ($out or $merge) and are not run here';

/** Joins to one line, truncated. */
function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > SHORT ? `${line.slice(0, SHORT)}…` : line;
}

function Move({
  number,
  by,
  disabled,
  onMove,
}: {
  number: number;
  by: -1 | 1;
  disabled: boolean;
  onMove: (by: -1 | 1) => void;
}) {
  const way = by < 0 ? 'up' : 'down';
  return (
    <Button
      look="quiet"
      disabled={disabled}
      data-move={way}
      aria-label={`Move stage ${number} ${way}`}
      onClick={() => onMove(by)}
    >
      <span aria-hidden="true">{by < 0 ? '↑' : '↓'}</span>
    </Button>
  );
}

export function StageRow(props: StageRowProps) {
  const { target, stage, number, upTo, isOpen, writes, onOpen, onMove } = props;
  const id = useId();
  const title = writes ? WRITES : undefined;
  const isShown = isOpen && !writes;
  return (
    <li className={stage.isOff ? 'stage stage-off' : 'stage'}>
      <div className="stage-head">
        <label className="stage-switch">
          <input
            type="checkbox"
            checked={!stage.isOff}
            onChange={(event) => props.onSwitch(!event.target.checked)}
          />
          <span>
            <span className="stage-number">{number}</span>{' '}
            <strong className="mono">{stage.operator || 'no stage'}</strong>
          </span>
        </label>
        <code className="mono stage-body" title={stage.body.slice(0, 2000)}>
          {shorten(stage.body)}
        </code>
        {stage.isOff && <span className="badge">disabled</span>}
        {writes && !stage.isOff && <span className="badge">writes</span>}
        <span className="stage-moves">
          <Move number={number} by={-1} disabled={props.isFirst} onMove={onMove} />
          <Move number={number} by={1} disabled={props.isLast} onMove={onMove} />
        </span>
        <span className="stage-acts">
          <Button
            look="quiet"
            disabled={writes}
            title={title}
            aria-expanded={isShown}
            aria-controls={isShown ? id : undefined}
            onClick={() => onOpen(!isOpen)}
          >
            Documents after this stage<span className="visually-hidden">, {number}</span>
          </Button>
          <Button
            look="quiet"
            disabled={writes}
            title={title}
            onClick={() => props.onRunUpTo(upTo)}
          >
            Run up to here<span className="visually-hidden">, stage {number}</span>
          </Button>
        </span>
      </div>
      {isShown && (
        <div className="stage-documents" id={id}>
          <StageDocuments target={target} text={upTo} />
        </div>
      )}
    </li>
  );
}
