// The composite indexes of a policy, each with two or more paths and their order.
import { Button } from '../../../ui/Button';
import { type CompositePath, pathProblem } from './policyForm';

type Composite = readonly CompositePath[];

export interface CompositeFieldsProps {
  composites: readonly Composite[];
  onComposites: (composites: readonly Composite[]) => void;
}

const EMPTY: CompositePath = { path: '', order: 'ascending' };
const MOST_PATHS = 8;

interface OneProps {
  composite: Composite;
  at: number;
  onComposite: (composite: Composite) => void;
  onRemove: () => void;
}

function One({ composite, at, onComposite, onRemove }: OneProps) {
  const put = (place: number, change: Partial<CompositePath>) =>
    onComposite(composite.map((one, here) => (here === place ? { ...one, ...change } : one)));
  const problems = composite.map(({ path }) => pathProblem(path, true));
  const problem = problems.find((found) => found !== null);
  return (
    <fieldset className="settings-group">
      <legend>Composite index {at + 1}</legend>
      {composite.map(({ path, order }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a path is identified by its position.
        <div key={place} className="row settings-line">
          <input
            className="mono"
            type="text"
            aria-label={`Path ${place + 1} of composite index ${at + 1}`}
            aria-invalid={problems[place] !== null}
            autoComplete="off"
            spellCheck={false}
            value={path}
            onChange={(event) => put(place, { path: event.target.value })}
          />
          <select
            aria-label={`Order of path ${place + 1} of composite index ${at + 1}`}
            value={order}
            onChange={(event) =>
              put(place, {
                order: event.target.value === 'descending' ? 'descending' : 'ascending',
              })
            }
          >
            <option value="ascending">ascending</option>
            <option value="descending">descending</option>
          </select>
          <Button
            aria-label={`Remove path ${place + 1} of composite index ${at + 1}`}
            disabled={composite.length <= 2}
            onClick={() => onComposite(composite.filter((_, here) => here !== place))}
          >
            Remove
          </Button>
        </div>
      ))}
      {problem !== undefined && <p className="error">{problem}</p>}
      <div className="row">
        <Button
          disabled={composite.length >= MOST_PATHS}
          aria-label={`Add a path to composite index ${at + 1}`}
          onClick={() => onComposite([...composite, EMPTY])}
        >
          Add a path
        </Button>
        <Button
          look="danger"
          aria-label={`Remove index ${at + 1}, a composite one`}
          onClick={onRemove}
        >
          Remove index
        </Button>
      </div>
    </fieldset>
  );
}

export function CompositeFields({ composites, onComposites }: CompositeFieldsProps) {
  return (
    <>
      {composites.map((composite, at) => (
        <One
          // biome-ignore lint/suspicious/noArrayIndexKey: an index is identified by its position.
          key={at}
          composite={composite}
          at={at}
          onComposite={(next) => onComposites(composites.with(at, next))}
          onRemove={() => onComposites(composites.filter((_, place) => place !== at))}
        />
      ))}
      <Button onClick={() => onComposites([...composites, [EMPTY, EMPTY]])}>
        Add a composite index
      </Button>
    </>
  );
}
