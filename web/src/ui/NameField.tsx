// A field in which the user types a name to confirm an irreversible action.
import { Field } from './Field';

export interface NameFieldProps {
  /** The kind of the named thing: "collection". */
  what: string;
  name: string;
  typed: string;
  error?: string | null;
  onType: (typed: string) => void;
}

export function NameField(props: NameFieldProps) {
  const { what, name, typed, error = null, onType } = props;
  return (
    <Field label={`Type the name of the ${what}, ${name}, to confirm`} error={error}>
      {(field) => (
        <input
          {...field}
          type="text"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => onType(event.target.value)}
        />
      )}
    </Field>
  );
}
