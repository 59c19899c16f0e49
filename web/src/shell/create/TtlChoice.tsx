// Default TTL of a new container or collection: off, on without a default, or on with seconds.
import { useId } from 'react';
import { TTL_OPTIONS, type TtlDraft, type TtlOption } from '../../pure/ttl/input';
import { SecondsField } from '../../ui/SecondsField';

export interface TtlChoiceProps {
  /** "item" or "document". */
  noun: string;
  draft: TtlDraft;
  /** Validation error of the form. */
  error: string | null;
  onDraft: (draft: TtlDraft) => void;
}

export function TtlChoice({ noun, draft, error, onDraft }: TtlChoiceProps) {
  const id = useId();
  const hints: Record<TtlOption, string> = {
    off: `${noun} never expire, even with a ttl.`,
    'on-nodefault': `${noun} never expire, except those with a ttl of their own.`,
    on: `${noun} expire this long after their last write, except those with a ttl of their own.`,
  };
  return (
    <>
      <fieldset className="ttl-choice" aria-describedby={`${id}-hint`}>
        <legend>Time to live</legend>
        <div className="row">
          {TTL_OPTIONS.map(({ option, label }) => (
            <label key={option}>
              <input
                type="radio"
                name={id}
                checked={draft.option === option}
                onChange={() => onDraft({ ...draft, option })}
              />{' '}
              {label}
            </label>
          ))}
        </div>
        <div className="hint" id={`${id}-hint`}>
          {hints[draft.option]}
        </div>
      </fieldset>
      {draft.option === 'on' && (
        <SecondsField
          name="Time to live"
          typed={draft}
          isFresh={draft.text === '' && error === null}
          onType={(typed) => onDraft({ ...draft, ...typed })}
        />
      )}
    </>
  );
}
