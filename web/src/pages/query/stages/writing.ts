// Finds the stages of a pipeline that write. Pure.
import type { Pipeline } from '../../../pure/shell/stages';

const WRITING = new Set(['$out', '$merge']);

/** Returns whether the stages up to `at` write or may write: an invalid stage is unknown. */
export function writesUpTo({ stages }: Pipeline, at: number): boolean {
  return stages
    .slice(0, at + 1)
    .some(
      ({ isOff, operator, text }) =>
        !isOff && (WRITING.has(operator) || (operator === '' && /\$(out|merge)\b/.test(text))),
    );
}
