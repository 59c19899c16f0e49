// The settings page of both APIs: the frame with its sections, notices, and the two dialogs that
// can interrupt a save. The caller provides sections and saving.
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
  /** Name of the object for notices: "this container". */
  what: string;
  loaded: Pick<Loaded<unknown>, 'failure' | 'gone' | 'reload'>;
  saving: Saving<unknown>;
  gate: ExpiryGate;
  /** `disabled`: changes are disabled now. */
  sections: (disabled: boolean) => readonly Section<K>[];
  /** The conflict dialog, if open. */
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
