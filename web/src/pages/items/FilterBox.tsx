// The filter in the door's own language. It is asked for on Enter, and kept in the address.
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../ui/Button';

export interface FilterBoxProps {
  hint: string;
  example: string;
  value: string;
  error: string | null;
  busy: boolean;
  onApply: (filter: string) => void;
}

export function FilterBox({ hint, example, value, error, busy, onApply }: FilterBoxProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  // Another filter came by the address.
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const apply = (event: FormEvent) => {
    event.preventDefault();
    onApply(typed.trim());
  };
  return (
    <form className="items-filter" role="search" onSubmit={apply}>
      <label htmlFor={id}>Filter</label>
      <span className="mono items-filter-hint" id={`${id}-hint`}>
        {hint}
      </span>
      <input
        id={id}
        className="mono"
        type="text"
        value={typed}
        placeholder={example}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={error !== null}
        aria-describedby={error === null ? `${id}-hint` : `${id}-hint ${id}-error`}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button type="submit" busy={busy && known !== typed.trim()}>
        Apply Filter
      </Button>
      {value !== '' && (
        <Button
          look="quiet"
          onClick={() => {
            setTyped('');
            onApply('');
          }}
        >
          Clear
        </Button>
      )}
      {error !== null && (
        <div className="error items-filter-error" id={`${id}-error`} role="alert">
          {error}
        </div>
      )}
    </form>
  );
}
