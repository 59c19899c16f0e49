// The filter in the door's own language. It is asked for on Enter, and kept in the address.
import { type FormEvent, useId, useState } from 'react';
import { bytes } from '../../pure/figures/amount';
import { Button } from '../../ui/Button';
import { MOST_AT_ONCE as MOST_CHARACTERS } from '../../ui/longInput';

export interface FilterBoxProps {
  hint: string;
  example: string;
  value: string;
  error: string | null;
  onApply: (filter: string) => void;
}

export function FilterBox({ hint, example, value, error, onApply }: FilterBoxProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const [refused, setRefused] = useState<string | null>(null);
  const said = refused ?? error;
  // Another filter came by the address.
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  /** Takes what was typed, unless it is too long; then what was there stays. */
  const take = (text: string) => {
    if (text.length > MOST_CHARACTERS) refuse(text.length);
    else {
      setRefused(null);
      setTyped(text);
    }
  };
  const refuse = (characters: number) => {
    const most = bytes(MOST_CHARACTERS);
    setRefused(
      `That text is ${bytes(characters)}. A filter has at most ${most}, so it was not put in.`,
    );
  };
  const apply = (event: FormEvent) => {
    event.preventDefault();
    setRefused(null);
    onApply(typed.trim());
  };
  return (
    <form className="items-filter" role="search" data-landing="input" onSubmit={apply}>
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
        aria-invalid={said !== null}
        aria-describedby={said === null ? `${id}-hint` : `${id}-hint ${id}-error`}
        onChange={(event) => take(event.target.value)}
        // Before the browser lays out what is too long.
        onPaste={(event) => {
          const { length } = event.clipboardData.getData('text');
          if (length <= MOST_CHARACTERS) return;
          event.preventDefault();
          refuse(length);
        }}
      />
      <Button type="submit">Apply Filter</Button>
      {value !== '' && (
        <Button
          look="quiet"
          onClick={() => {
            take('');
            onApply('');
          }}
        >
          Clear
        </Button>
      )}
      {said !== null && (
        <div className="error items-filter-error" id={`${id}-error`} role="alert">
          {said}
        </div>
      )}
    </form>
  );
}
