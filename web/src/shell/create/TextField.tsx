// A line of text with its label: names, paths, numbers as typed.
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
