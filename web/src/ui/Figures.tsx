// A list of named numbers.
import type { ReactNode } from 'react';
import './figures.css';

export interface Figure {
  name: string;
  value: ReactNode;
  hint?: string;
}

export function Figures({ figures, label }: { figures: readonly Figure[]; label: string }) {
  return (
    <dl className="figures" aria-label={label}>
      {figures.map(({ name, value, hint }) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>
            {value}
            {hint !== undefined && <div className="hint">{hint}</div>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
