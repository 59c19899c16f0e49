// The indexing policy as a form: mode, included and excluded paths, composite indexes. It edits the
// policy's text, which is shown beside it.
import { useId } from 'react';
import { Button } from '../../../ui/Button';
import { CompositeFields } from './CompositeFields';
import { type Mode, type PolicyForm, pathProblem, withMode } from './policyForm';

export interface PolicyFormViewProps {
  form: PolicyForm;
  disabled: boolean;
  onForm: (form: PolicyForm) => void;
}

const MODES: readonly [Mode, string][] = [
  ['consistent', 'Consistent: paths are indexed as items are written'],
  ['none', 'None: nothing is indexed, and items do not expire'],
];

interface PathsProps {
  legend: string;
  /** Label of one entry: "Included path". */
  one: string;
  paths: readonly string[];
  onPaths: (paths: readonly string[]) => void;
}

function Path({
  one,
  at,
  path,
  onPath,
  onRemove,
}: {
  one: string;
  at: number;
  path: string;
  onPath: (path: string) => void;
  onRemove: () => void;
}) {
  const id = useId();
  const problem = pathProblem(path);
  return (
    <>
      <div className="row settings-line">
        <input
          className="mono"
          type="text"
          aria-label={`${one} ${at + 1}`}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : id}
          autoComplete="off"
          spellCheck={false}
          value={path}
          onChange={(event) => onPath(event.target.value)}
        />
        <Button aria-label={`Remove ${one.toLowerCase()} ${at + 1}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
      {problem !== null && (
        <p id={id} className="error">
          {problem}
        </p>
      )}
    </>
  );
}

function Paths({ legend, one, paths, onPaths }: PathsProps) {
  return (
    <fieldset className="settings-group">
      <legend>{legend}</legend>
      {paths.map((path, at) => (
        <Path
          // biome-ignore lint/suspicious/noArrayIndexKey: a path is identified by its position.
          key={at}
          one={one}
          at={at}
          path={path}
          onPath={(next) => onPaths(paths.with(at, next))}
          onRemove={() => onPaths(paths.filter((_, place) => place !== at))}
        />
      ))}
      <Button onClick={() => onPaths([...paths, ''])}>Add {one.toLowerCase()}</Button>
    </fieldset>
  );
}

export function PolicyFormView({ form, disabled, onForm }: PolicyFormViewProps) {
  const modes = form.mode === 'lazy' ? [...MODES, ['lazy', 'Lazy'] as const] : MODES;
  return (
    <fieldset className="settings-form" disabled={disabled} aria-label="Indexing policy as a form">
      <label className="settings-check">
        Indexing mode{' '}
        <select
          value={form.mode}
          onChange={(event) => {
            const mode = modes.find(([name]) => name === event.target.value)?.[0];
            if (mode !== undefined) onForm(withMode(form, mode));
          }}
        >
          {modes.map(([mode, words]) => (
            <option key={mode} value={mode}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {form.mode === 'none' ? (
        <p className="hint">
          With indexing mode “none” there are no paths and no composite indexes.
        </p>
      ) : (
        <>
          <Paths
            legend="Included paths"
            one="Included path"
            paths={form.included}
            onPaths={(included) => onForm({ ...form, included })}
          />
          <Paths
            legend="Excluded paths"
            one="Excluded path"
            paths={form.excluded}
            onPaths={(excluded) => onForm({ ...form, excluded })}
          />
          <CompositeFields
            composites={form.composites}
            onComposites={(composites) => onForm({ ...form, composites })}
          />
        </>
      )}
    </fieldset>
  );
}
