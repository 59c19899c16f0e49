// An error banner above the content that failed; hidden if the page-wide banner reports the same.
import { useUnsaid } from '../state/server';
import { Banner } from './Banner';

/** null: no error. */
export function FailureBanner({ words }: { words: string | null }) {
  const said = useUnsaid(words);
  return said === null ? null : <Banner look="bad">{said}</Banner>;
}
