// A labelled single-line input for names, paths and numbers.
import type { ReactNode } from 'react';
import { Field } from '../../ui/Field';

export interface TextFieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  value: string;
  onChange: (text: string) => void;
  placeholder?: string;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error = null, value, onChange, placeholder } = props;
  return (
    <Field label={label} error={error} {...(hint === undefined ? {} : { hint })}>
      {(tied) => (
        <input
          {...tied}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
