// Retention of deleted versions for the all versions and deletes feed.
import { NumberField } from '../../../ui/NumberField';
import { type FeedDraft, MOST_MINUTES, minutesInWords, readFeed } from './definition';

export interface FeedSectionProps {
  draft: FeedDraft;
  changed: boolean;
  disabled: boolean;
  onDraft: (draft: FeedDraft) => void;
}

export function FeedSection({ draft, changed, disabled, onDraft }: FeedSectionProps) {
  const read = readFeed(draft);
  const words = draft.on && 'value' in read ? `: ${minutesInWords(read.value)}` : '';
  return (
    <>
      <p className="hint">
        The feed of latest versions is always available. The feed of all versions and deletes, which
        also reports expired items, requires older versions to be retained.
      </p>
      <fieldset
        className={changed ? 'settings-group settings-changed' : 'settings-group'}
        disabled={disabled}
      >
        <legend>
          All versions and deletes{changed && <span className="settings-mark"> (changed)</span>}
        </legend>
        {[false, true].map((on) => (
          <label key={String(on)} className="settings-option">
            <input
              type="radio"
              name="change-feed"
              checked={draft.on === on}
              onChange={() => onDraft({ ...draft, on })}
            />
            <span>{on ? 'Retained' : 'Not retained'}</span>
          </label>
        ))}
        {draft.on && (
          <NumberField
            label="Retention in minutes"
            hint={`1 to ${MOST_MINUTES} minutes${words}`}
            error={'error' in read ? read.error : null}
            value={draft.text}
            onChange={(text) => onDraft({ ...draft, text })}
          />
        )}
      </fieldset>
    </>
  );
}
