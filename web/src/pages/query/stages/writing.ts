// Which stages of a pipeline write. Pure.
import type { Pipeline } from '../../../pure/shell/stages';

const WRITING = new Set(['$out', '$merge']);

/** Whether what runs up to a stage writes, or may: of what is no stage it is not known. */
export function writesUpTo({ stages }: Pipeline, at: number): boolean {
  return stages
    .slice(0, at + 1)
    .some(
      ({ isOff, operator, text }) =>
        !isOff && (WRITING.has(operator) || (operator === '' && /\$(out|merge)\b/.test(text))),
    );
}
