// A failure in words, above what failed; nothing where another line says the same of the whole page.
import { useUnsaid } from '../state/server';
import { Banner } from './Banner';

/** null: nothing has failed. */
export function FailureBanner({ words }: { words: string | null }) {
  const said = useUnsaid(words);
  return said === null ? null : <Banner look="bad">{said}</Banner>;
}
