// A fraction of a sample as a bar with its percentage.
import { percent } from './fieldWords';

export function Share({ share }: { share: number }) {
  return (
    <span className="schema-share">
      <span className="schema-track" aria-hidden="true">
        <span style={{ width: `${Math.max(share * 100, share > 0 ? 2 : 0)}%` }} />
      </span>
      {percent(share)}
    </span>
  );
}
