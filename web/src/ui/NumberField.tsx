// A number input that keeps its text, so that no value is changed silently.
import type { ReactNode } from 'react';
import { Field } from './Field';

export interface NumberFieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error: string | null;
  value: string;
  onChange: (text: string) => void;
}

export function NumberField({ value, onChange, ...field }: NumberFieldProps) {
  return (
    <Field {...field}>
      {(props) => (
        <input
          {...props}
          type="text"
          inputMode="numeric"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
