// Errors of a query.
import { words } from '../../api/http';
import type { Target } from '../../state/place';
import { Banner } from '../../ui/Banner';
import { Failure } from '../../ui/Failure';
import { InputError, placeIn, problemsOf } from './problem';

export interface ProblemsProps {
  error: unknown;
  text: string;
  target: Target;
}

export function Problems({ error, text, target }: ProblemsProps) {
  if (error === null) return null;
  if (error instanceof InputError) {
    const where = error.at === null ? '' : `, ${placeIn(error.text, error.at)}`;
    return (
      <Banner look="bad">
        <span>
          {error.field}
          {where}: {error.message}
        </span>
      </Banner>
    );
  }
  const said = error instanceof Error ? error.message : words(error);
  const problems = problemsOf(said, text);
  const isPlain = problems.length === 1 && problems[0]?.sentence === said;
  if (isPlain) return <Failure error={error} target={target} />;
  return (
    <Banner look="bad">
      {problems.map(({ sentence, where }) => (
        <span key={`${where} ${sentence}`}>
          {where === null ? '' : `${where.charAt(0).toUpperCase()}${where.slice(1)}: `}
          {sentence}
        </span>
      ))}
    </Banner>
  );
}
