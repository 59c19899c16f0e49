// What the settings of both APIs are shown in: the frame with its sections, what happened meanwhile, and
// the two dialogs that may stop a save. What the sections hold and how they are saved is the caller's.
import type { ReactNode } from 'react';
import { mayWrite, session } from '../../../api/session';
import type { Target } from '../../../state/place';
import { useStore } from '../../../state/store';
import type { Nouns } from '../ttl/impact';
import type { ExpiryGate } from '../ttl/useExpiryGate';
import { Notice } from './Notice';
import { READ_ONLY } from './readOnly';
import { type Section, SettingsFrame } from './SettingsFrame';
import type { Saving } from './saving';
import type { Loaded } from './useLoaded';

export interface SettingsPaneProps<K extends string> {
  target: Target;
  nouns: Nouns;
  /** What somebody else may have changed: "this container". */
  what: string;
  loaded: Pick<Loaded<unknown>, 'failure' | 'gone' | 'reload'>;
  saving: Saving<unknown>;
  gate: ExpiryGate;
  /** `disabled`: nothing may be changed now. */
  sections: (disabled: boolean) => readonly Section<K>[];
  /** The dialog while a person has to choose between two versions. */
  conflict: ReactNode;
}

export function SettingsPane<K extends string>(props: SettingsPaneProps<K>) {
  const { target, nouns, what, loaded, saving, gate, sections, conflict } = props;
  const locked = mayWrite(useStore(session)) ? null : READ_ONLY;
  const about = { target, place: nouns.place, loaded, saving };
  return (
    <>
      <SettingsFrame
        sections={sections(locked !== null || saving.saving)}
        locked={locked}
        gone={loaded.gone}
        saving={saving.saving}
        asks={gate.asks}
        outcome={saving.outcome}
        onSave={saving.save}
        onDiscard={saving.discard}
        notice={<Notice {...about} what={what} />}
      />
      {gate.dialog}
      {conflict}
    </>
  );
}
