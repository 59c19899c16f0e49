// Command bar and sections of the settings: Save, Discard, unsaved changes, errors. The caller
// provides sections and saving.
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { setQuery, useLeaveGuard, usePlace } from '../../../state/router';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { isAdrift } from '../../../ui/focusKeeper';
import { type Tab, Tabs } from '../../../ui/Tabs';
import { dialogIsOpen, useSaveKey } from '../../../ui/useSaveKey';

export interface Section<K extends string> {
  key: K;
  label: string;
  changed: boolean;
  problems: readonly string[];
  body: ReactNode;
}

export interface SettingsFrameProps<K extends string> {
  sections: readonly Section<K>[];
  /** Why changes are disabled; null: enabled. */
  locked: string | null;
  /** Whether the collection was deleted. */
  gone: boolean;
  saving: boolean;
  /** Whether saving waits for a confirmation. */
  asks: boolean;
  outcome: { good: boolean; text: string } | null;
  onSave: () => void;
  onDiscard: () => void;
  notice?: ReactNode;
}

const PANEL = 'settings-panel';

function stateInWords<K extends string>(sections: readonly Section<K>[]): string {
  const names = (chosen: readonly Section<K>[]) => chosen.map(({ label }) => label).join(', ');
  const changed = sections.filter((section) => section.changed);
  const wrong = sections.filter((section) => section.problems.length > 0);
  if (wrong.length > 0 && changed.length > 0) return `Cannot be saved yet: see ${names(wrong)}.`;
  return changed.length === 0 ? 'No unsaved changes.' : `Unsaved changes: ${names(changed)}.`;
}

/** Restores the focus after saving, during which controls are disabled. */
function useFocusKept(saving: boolean, otherwise: RefObject<HTMLElement | null>): void {
  const held = useRef<Element | null>(null);
  const before = useRef(saving);
  if (saving && !before.current) held.current = document.activeElement;
  useEffect(() => {
    const ended = before.current && !saving;
    before.current = saving;
    if (!ended || dialogIsOpen()) return;
    const lost = isAdrift();
    const was = held.current;
    if (lost && was instanceof HTMLElement) was.focus();
    if (isAdrift()) otherwise.current?.focus();
  }, [saving, otherwise]);
}

export function SettingsFrame<K extends string>(props: SettingsFrameProps<K>) {
  const { sections, locked, saving, outcome } = props;
  const { query } = usePlace();
  const asked = query.get('section');
  const shown = sections.find(({ key }) => key === asked) ?? sections[0];
  const dirty = sections.some((section) => section.changed);
  const wrong = sections.some((section) => section.problems.length > 0);
  const maySave = dirty && !wrong && !saving && !props.gone && locked === null;
  const state = useRef<HTMLSpanElement>(null);
  useLeaveGuard(dirty);
  useFocusKept(saving, state);
  useSaveKey(maySave ? props.onSave : null);
  if (shown === undefined) return null;
  const still = outcome?.good === true && !dirty ? outcome.text : stateInWords(sections);
  const words = !saving ? still : props.asks ? 'Waiting for you to confirm.' : 'Saving…';
  const tabs = sections.map(({ key, label, changed }): Tab<K> => {
    return changed ? { key, label, mark: '•', said: '(changed)' } : { key, label };
  });
  return (
    <div className="settings page">
      <div className="settings-bar row" role="toolbar" aria-label="Commands">
        <Button
          look="primary"
          busy={saving}
          disabled={!maySave}
          onClick={props.onSave}
          aria-keyshortcuts="Control+S"
        >
          Save
        </Button>
        <Button disabled={!dirty || saving} onClick={props.onDiscard}>
          Discard
        </Button>
        <span className="settings-state" role="status" tabIndex={-1} ref={state}>
          {words}
        </span>
      </div>
      {locked !== null && <Banner look="warn">{locked}</Banner>}
      {outcome?.good === false && <Banner look="bad">{outcome.text}</Banner>}
      {props.notice}
      <Tabs
        label="Settings"
        tabs={tabs}
        selected={shown.key}
        onSelect={(key) => setQuery('section', key === sections[0]?.key ? null : key)}
        panel={PANEL}
      />
      <div
        className="settings-panel"
        id={PANEL}
        role="tabpanel"
        aria-labelledby={`${PANEL}-tab-${shown.key}`}
      >
        {shown.body}
      </div>
    </div>
  );
}
