// Default TTL in either API: the three options, the seconds, and the effect of a change.
import type { ReactNode } from 'react';
import type { DefaultTtl } from '../../../api/admin';
import {
  draftOf,
  readDraft,
  TTL_OPTIONS,
  type TtlDraft,
  type TtlOption,
} from '../../../pure/ttl/input';
import { Banner } from '../../../ui/Banner';
import { SecondsField } from '../../../ui/SecondsField';
import type { Nouns } from './impact';

export interface TtlSectionProps {
  nouns: Nouns;
  draft: TtlDraft;
  /** The current value on the server. */
  saved: DefaultTtl;
  disabled: boolean;
  onDraft: (draft: TtlDraft) => void;
  /** Errors besides those of the input. */
  problems?: readonly string[];
  effect: ReactNode;
}

/** Element names that users' scripts rely on. */
const NAMES: Readonly<Record<TtlOption, string>> = {
  off: 'ttl-off-option',
  'on-nodefault': 'ttl-on-no-default-option',
  on: 'ttl-on-option',
};

function meaning(option: TtlOption, { many, one, place }: Nouns): string {
  switch (option) {
    case 'off': {
      const beside = one === 'document' ? ' Date TTL indexes are not affected.' : '';
      return (
        `No ${one} in this ${place} expires by age. A “ttl” in ${many} is stored but ignored. ` +
        `Expired ${many} are not restored.${beside}`
      );
    }
    case 'on-nodefault':
      return `Only ${many} with a “ttl” of their own expire, that many seconds after their last write.`;
    case 'on':
      return (
        `Every ${one} expires this long after its last write, unless its own “ttl” says ` +
        `otherwise: a number of seconds of its own, or -1 for never.`
      );
  }
}

function Options({ draft, saved, disabled, nouns, onDraft }: TtlSectionProps) {
  const before = draftOf(saved).option;
  const changed = draft.option !== before;
  return (
    <fieldset
      id="timeToLive"
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a radio group.
      role="radiogroup"
      aria-labelledby="timeToLive-legend"
      aria-describedby="timeToLive-meaning"
      className={changed ? 'settings-group settings-changed' : 'settings-group'}
      disabled={disabled}
    >
      <legend id="timeToLive-legend">
        Time to live
        {changed && <span className="settings-mark"> (changed)</span>}
      </legend>
      {TTL_OPTIONS.map(({ option, label }) => {
        const name = NAMES[option];
        // The visible text is the accessible name; the other name is for scripts.
        return (
          <label key={option} className="settings-option">
            <input
              type="radio"
              name="timeToLive"
              id={name}
              data-test={name}
              aria-label={name}
              aria-labelledby={`${name}-label`}
              value={option}
              checked={draft.option === option}
              onChange={() => onDraft({ ...draft, option })}
            />
            <span id={`${name}-label`}>{label}</span>
          </label>
        );
      })}
      <p id="timeToLive-meaning" className="hint">
        {meaning(draft.option, nouns)}
      </p>
    </fieldset>
  );
}

export function TtlSection(props: TtlSectionProps) {
  const { draft, saved, disabled, nouns, onDraft, problems = [] } = props;
  const read = readDraft(draft);
  const changed = !('value' in read) || read.value !== saved;
  const turnsOn = draft.option === 'on' && (saved === null || saved === -1);
  return (
    <>
      <Options {...props} />
      {draft.option === 'on' && (
        <SecondsField
          id="timeToLiveSeconds"
          dataTest="ttl-input"
          name="Time to live"
          typed={draft}
          shown={saved}
          className={changed ? 'settings-changed' : undefined}
          disabled={disabled}
          note={changed && <div className="settings-mark">(changed)</div>}
          onType={(typed) => onDraft({ ...draft, ...typed })}
        />
      )}
      {turnsOn && (
        <Banner>
          {`When this is saved, ${nouns.many} older than the value expire immediately, and ` +
            `every other one when it reaches that age.`}
        </Banner>
      )}
      {problems.map((problem) => (
        <p key={problem} className="error" role="alert">
          {problem}
        </p>
      ))}
      {changed && 'value' in read && props.effect}
    </>
  );
}
