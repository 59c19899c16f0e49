// A label, an input, a hint and an error, associated for screen readers.
import { type ReactNode, useId } from 'react';

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | null;
  /** Renders the control; spread `props` onto it. */
  children: (props: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ReactNode;
}

export function Field({ label, hint, error = null, children }: FieldProps) {
  const id = useId();
  const said = [hint === undefined ? null : `${id}-hint`, error === null ? null : `${id}-error`];
  const describedBy = said.filter((name) => name !== null).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': error !== null,
      })}
      {hint !== undefined && (
        <div className="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error !== null && (
        <div className="error" id={`${id}-error`} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}
