// The first documents after a stage, and their number. Loaded once, and again on request.
import { useEffect, useRef, useState } from 'react';
import { counted, count as grouped } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Problems } from '../Problems';
import { ResultsPanel } from '../results/ResultsPanel';
import { NOTHING, type Runs } from '../runState';
import { MOST_COUNTED, type Probed, probe, SHOWN } from './probe';

export interface StageDocumentsProps {
  target: Target;
  /** The pipeline up to the stage. */
  text: string;
}

function said({ page, count }: Probed): string {
  const many =
    count === null ? `More than ${grouped(MOST_COUNTED)} documents` : counted(count, 'document');
  const isPart = count === null || count > page.results.rows.length;
  return `${many}${isPart ? `; the first ${Math.min(SHOWN, page.results.rows.length)} are shown` : ''}.`;
}

function useProbe(target: Target, text: string) {
  const place = useRef(target);
  const [asked, ask] = useState({ text });
  const [found, find] = useState<Probed | { failure: unknown } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    find(null);
    probe(place.current, asked.text, abort.signal).then(
      (probed) => !abort.signal.aborted && find(probed),
      (failure: unknown) => !abort.signal.aborted && find({ failure }),
    );
    return () => abort.abort();
  }, [asked]);
  return { found, isOld: asked.text !== text, again: () => ask({ text }) };
}

export function StageDocuments({ target, text }: StageDocumentsProps) {
  const { found, isOld, again } = useProbe(target, text);
  if (isOld)
    return (
      <Banner>
        The pipeline up to here has changed. <Button onClick={again}>Run again</Button>
      </Banner>
    );
  if (found === null) return <p className="hint">Running…</p>;
  if ('failure' in found) return <Problems error={found.failure} text={text} target={target} />;
  const runs: Runs = { ...NOTHING, pages: [found.page] };
  return (
    <>
      <p className="hint" role="status">
        {said(found)}
      </p>
      {found.page.results.rows.length > 0 && <ResultsPanel target={target} runs={runs} />}
    </>
  );
}
