// The expirations that a clock move causes, by collection.
import { useEffect, useState } from 'react';
import { count, counted } from '../../pure/figures/amount';
import { DOOR_NAMES } from '../../shell/dialogs';
import { type Loss, lossesOf, type Toll, tollWords } from './toll';

/** Maximum number of rows. */
const MOST = 8;

type Known = readonly Loss[] | 'asking' | 'unknown';

export function Losses({ seconds, toll }: { seconds: number; toll: Toll | null }) {
  const [known, setKnown] = useState<Known>('asking');
  useEffect(() => {
    if (toll?.none === true) return;
    const turn = new AbortController();
    const keep = (found: Known) => {
      if (!turn.signal.aborted) setKnown(found);
    };
    lossesOf(seconds, turn.signal).then(
      (losses) => keep(losses ?? 'unknown'),
      () => keep('unknown'),
    );
    return () => turn.abort();
  }, [seconds, toll?.none]);
  if (toll === null)
    return <p>The number of documents that expire by then could not be calculated.</p>;
  const sentence = `${tollWords(toll)} ${toll.documents === 1 ? 'expires' : 'expire'} by then`;
  const said = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  if (toll.none) return <p role="status">{said}.</p>;
  if (typeof known === 'string' || known.length === 0) {
    return (
      <p role="status">{known === 'asking' ? `${said}; checking collections…` : `${said}.`}</p>
    );
  }
  return (
    <>
      <p role="status">
        {said}, in {known.length === 1 ? 'one collection' : counted(known.length, 'collection')}:
      </p>
      <ul className="metrics-losses">
        {known.slice(0, MOST).map(({ target, documents }) => (
          <li key={JSON.stringify(target)}>
            <span className="name">
              {target.database} › {target.collection}
            </span>{' '}
            <span className="hint">{DOOR_NAMES[target.door]}</span>{' '}
            <strong>{counted(documents, target.door === 'mongo' ? 'document' : 'item')}</strong>
          </li>
        ))}
        {known.length > MOST && <li>and {count(known.length - MOST)} more.</li>}
      </ul>
    </>
  );
}
