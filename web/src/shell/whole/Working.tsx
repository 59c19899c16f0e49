// Progress of a long operation on a collection.
import { count } from '../../pure/figures/amount';
import './whole.css';

export interface WorkingProps {
  /** The operation in the past tense: "Deleted". */
  verb: string;
  done: number;
  /** null: not known. */
  all: number | null;
}

export function Working({ verb, done, all }: WorkingProps) {
  const most = Math.max(1, all ?? 1, done);
  return (
    <div>
      <progress
        className="whole-progress"
        aria-label={verb}
        max={most}
        {...(all === null ? {} : { value: done })}
      />
      <div className="hint">
        {verb}: {count(done)}
        {all === null ? '' : ` of ${count(most)}`}
      </div>
    </div>
  );
}
