// Switches of the account: whether documents of the MongoDB API may have a TTL of their own.
import { useEffect, useId, useState } from 'react';
import { type Features as Known, readFeatures, setPerDocumentTtl } from '../../api/admin';
import { ApiError, words } from '../../api/http';
import { mayWrite, session } from '../../api/session';
import { READ_ONLY } from '../../shell/dialogs';
import { toast } from '../../state/log';
import { useServerChanges } from '../../state/server';
import { useStore } from '../../state/store';
import { Banner } from '../../ui/Banner';
import './features.css';
import { SwitchDialog } from './SwitchDialog';

const SOURCES: Record<Known['per_document_ttl']['source'], string> = {
  default: 'Default value.',
  flag: 'Set at server start by --per-document-ttl or the matching setting.',
  stored: 'Set on this page and stored with the data.',
};

function said(error: unknown): string {
  const missing = error instanceof ApiError && error.status === 404;
  return missing ? 'This server has no feature flags.' : words(error);
}

function useFeatures() {
  const changes = useServerChanges();
  const [known, setKnown] = useState<Known | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    let stopped = false;
    readFeatures().then(
      (features) => {
        if (stopped) return;
        setKnown(features);
        setFailure(null);
      },
      (error: unknown) => {
        if (!stopped) setFailure(said(error));
      },
    );
    return () => {
      stopped = true;
    };
  }, [changes]);
  const set = async (on: boolean) => {
    setBusy(true);
    setFailure(null);
    try {
      setKnown(await setPerDocumentTtl(on));
      toast({ text: `Per-document TTL for MongoDB collections is ${on ? 'on' : 'off'} now` });
    } catch (error) {
      setFailure(said(error));
    }
    setBusy(false);
  };
  return { known, failure, busy, set };
}

export default function Features() {
  const { known, failure, busy, set } = useFeatures();
  const may = mayWrite(useStore(session));
  const [asked, setAsked] = useState<boolean | null>(null);
  const id = useId();
  const feature = known?.per_document_ttl;
  return (
    <div className="page features" tabIndex={-1}>
      <h1>Features</h1>
      {failure !== null && <Banner look="bad">{failure}</Banner>}
      {feature === undefined && failure === null && <p className="hint">Loading…</p>}
      {feature !== undefined && (
        <section aria-labelledby={`${id}-label`}>
          <div className="row">
            <button
              type="button"
              role="switch"
              className="features-switch"
              aria-checked={feature.on}
              aria-labelledby={`${id}-label`}
              aria-describedby={`${id}-source`}
              aria-busy={busy || undefined}
              disabled={!may}
              aria-disabled={busy || undefined}
              title={may ? undefined : READ_ONLY}
              onClick={() => !busy && setAsked(!feature.on)}
            >
              <span className="features-knob" aria-hidden="true" />
            </button>
            <h2 id={`${id}-label`}>Per-document TTL for MongoDB collections</h2>
            <span className="badge">{feature.on ? 'On' : 'Off'}</span>
          </div>
          <p id={`${id}-source`} className="hint">
            {SOURCES[feature.source]}
            {may ? '' : ` ${READ_ONLY}`}
          </p>
          <Meaning />
          {asked !== null && (
            <SwitchDialog
              on={asked}
              onSwitch={() => {
                setAsked(null);
                void set(asked);
              }}
              onClose={() => setAsked(null)}
            />
          )}
        </section>
      )}
    </div>
  );
}

function Meaning() {
  return (
    <dl className="features-meaning">
      <dt>On</dt>
      <dd>
        In a collection with TTL, a whole number in the root field <code>ttl</code> of a document
        overrides the collection&rsquo;s default: the document expires that many seconds after its
        last write, or never with <code>-1</code>.
      </dd>
      <dt>Off</dt>
      <dd>
        A <code>ttl</code> in documents that are written through the MongoDB API from then on is an
        ordinary field: the collection&rsquo;s default applies.
      </dd>
      <dt>What does not change</dt>
      <dd>
        Existing documents keep their time to live until they are written again. NoSQL containers
        are not affected.
      </dd>
    </dl>
  );
}
