// Sets the default TTL of several collections: the value, the documents that expire in each, and
// the outcome of each.
import { type FormEvent, useId, useState } from 'react';
import { count, counted } from '../../../pure/figures/amount';
import { NO_SECONDS, readDraft, TTL_OPTIONS, type TtlDraft } from '../../../pure/ttl/input';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Dialog } from '../../../ui/Dialog';
import { NameField } from '../../../ui/NameField';
import { SecondsField } from '../../../ui/SecondsField';
import '../settings.css';
import { NOUNS } from '../ttl/impact';
import { dyingOf, dyingWords, resultWords } from './looks';
import { SeveralTable } from './SeveralTable';
import type { Several } from './setDefault';
import { type SeveralState, useSeveral } from './useSeveral';

const UNTYPED: TtlDraft = { option: 'on', ...NO_SECONDS };

interface ChoiceProps {
  draft: TtlDraft;
  onDraft: (draft: TtlDraft) => void;
}

function Choice({ draft, onDraft }: ChoiceProps) {
  const id = useId();
  return (
    <>
      <fieldset className="settings-group">
        <legend>Time to live</legend>
        {TTL_OPTIONS.map(({ option, label }) => (
          <label key={option} className="settings-option">
            <input
              type="radio"
              name={id}
              checked={draft.option === option}
              onChange={() => onDraft({ ...draft, option })}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {draft.option === 'on' && (
        <SecondsField
          name="Time to live"
          typed={draft}
          isFresh={draft.text === ''}
          onType={(typed) => onDraft({ ...draft, ...typed })}
        />
      )}
    </>
  );
}

type Shown = { several: Several; state: SeveralState };

function Effect({ several, state, draft }: Shown & { draft: TtlDraft }) {
  const read = readDraft(draft);
  const { looks } = state;
  if ('error' in read) return null;
  return (
    <div role="status">
      {looks === null ? (
        state.failure === null && <p className="hint">Calculating the effect…</p>
      ) : (
        <>
          {state.hasMoved && (
            <p>
              <strong>The counts have changed. Nothing has been set yet.</strong>
            </p>
          )}
          <p className={dyingOf(looks) > 0 ? 'settings-expiring' : undefined}>
            {dyingWords(looks, read.value, NOUNS[several.door])}
          </p>
        </>
      )}
    </div>
  );
}

function Ended({ several, state, onClose }: Shown & { onClose: () => void }) {
  const nouns = NOUNS[several.door];
  const { results, phase } = state;
  const isOver = phase === 'ended';
  const left = several.names.filter((name) => {
    const kind = results.get(name)?.kind;
    return kind === undefined || kind === 'failed';
  });
  return (
    <>
      <p role="status">
        {isOver
          ? resultWords(results, nouns)
          : `${count(results.size)} of ${counted(several.names.length, nouns.place)}…`}
      </p>
      <SeveralTable nouns={nouns} names={several.names} looks={null} results={results} />
      <div className="row dialog-buttons">
        {isOver && left.length > 0 && (
          <Button onClick={() => void state.again()}>Try {count(left.length)} again</Button>
        )}
        {isOver ? (
          <Button key="close" autoFocus onClick={onClose}>
            Close
          </Button>
        ) : (
          <Button key="stop" onClick={state.stop}>
            Stop
          </Button>
        )}
      </div>
    </>
  );
}

export default function SeveralDialog({
  several,
  onClose,
}: {
  several: Several;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState(UNTYPED);
  const [typed, setTyped] = useState('');
  const read = readDraft(draft);
  const state = useSeveral(several, 'value' in read ? read.value : undefined);
  const { looks, phase } = state;
  const nouns = NOUNS[several.door];
  const dying = looks === null ? 0 : dyingOf(looks);
  const isAgreed = dying === 0 || typed === several.database;
  const isBefore = phase === 'before' || phase === 'checking';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (looks === null || !isAgreed || phase !== 'before') return;
    setTyped('');
    void state.begin();
  };
  return (
    <Dialog
      title={`Default time to live of ${counted(several.names.length, nouns.place)}`}
      onClose={() => (phase === 'running' ? state.stop() : onClose())}
    >
      {!isBefore && <Ended several={several} state={state} onClose={onClose} />}
      {isBefore && (
        <form onSubmit={submit}>
          <Choice draft={draft} onDraft={setDraft} />
          <Effect several={several} state={state} draft={draft} />
          {state.failure !== null && <Banner look="bad">{state.failure}</Banner>}
          <SeveralTable nouns={nouns} names={several.names} looks={looks} results={null} />
          {dying > 0 && (
            <>
              <p>This cannot be undone: a later change does not restore expired {nouns.many}.</p>
              <NameField what="database" name={several.database} typed={typed} onType={setTyped} />
            </>
          )}
          <div className="row dialog-buttons">
            <Button
              type="submit"
              look={dying > 0 ? 'danger' : 'primary'}
              busy={phase === 'checking'}
              disabled={looks === null || !isAgreed}
            >
              {dying > 0 ? `Set and expire ${nouns.many}` : 'Set'}
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
