// Settings of a collection of the MongoDB API.

import type { IndexRecord } from '../../api/mongo';
import { defaultInWords, readDraft } from '../../pure/ttl/input';
import type { Target } from '../../state/place';
import { Banner } from '../../ui/Banner';
import { ConflictDialog } from './frame/ConflictDialog';
import type { Section } from './frame/SettingsFrame';
import { SettingsPane } from './frame/SettingsPane';
import { Unread } from './frame/Unread';
import type { Loaded } from './frame/useLoaded';
import { DateIndexes } from './indexes/DateIndexes';
import { Indexes } from './indexes/Indexes';
import { isDateIndex, isTtlIndex } from './indexes/ttlIndex';
import { CollectionThroughput } from './throughput/CollectionThroughput';
import { ImpactView } from './ttl/ImpactView';
import { NOUNS } from './ttl/impact';
import { TtlSection } from './ttl/TtlSection';
import { useExpiryGate } from './ttl/useExpiryGate';
import { useImpact } from './ttl/useImpact';
import { type CollectionSettings, useCollection } from './useCollection';

type Key = 'ttl' | 'date-indexes' | 'indexes' | 'throughput';
const NOUN = NOUNS.mongo;

interface Part {
  target: Target;
  loaded: Loaded<IndexRecord[]>;
  settings: CollectionSettings;
  disabled: boolean;
}

function TimeToLive({ target, settings, disabled }: Part) {
  const { base, draft, changed, wanted, edit, indexes } = settings;
  const effect = useImpact(target, changed ? wanted : undefined);
  const held = indexes.filter(isTtlIndex).map(({ name }) => name);
  const dates = indexes.filter(isDateIndex).map(({ name }) => name);
  return (
    <>
      {dates.length > 0 && (
        <Banner>
          {`Independently of this setting, documents expire by date: ${dates.join(', ')} (see Date TTL indexes).`}
        </Banner>
      )}
      <TtlSection
        nouns={NOUN}
        draft={draft}
        saved={base}
        disabled={disabled}
        onDraft={edit}
        effect={<ImpactView state={effect} nouns={NOUN} />}
      />
      <p className="hint">
        {held.length === 0
          ? 'Turning it on creates an index on “_ts” that stores the default of the collection.'
          : `Stored as the index ${held.join(', ')} on “_ts”.`}
      </p>
    </>
  );
}

function sectionsOf(part: Part): Section<Key>[] {
  const { target, loaded, settings, disabled } = part;
  const read = readDraft(settings.draft);
  const problems = 'error' in read ? [read.error] : [];
  const fixed = { changed: false, problems: [] };
  const dates = (
    <DateIndexes target={target} loaded={loaded} indexes={settings.indexes} disabled={disabled} />
  );
  const all = (
    <Indexes target={target} loaded={loaded} indexes={settings.indexes} disabled={disabled} />
  );
  const throughput = <CollectionThroughput target={target} disabled={disabled} />;
  return [
    {
      key: 'ttl',
      label: 'Time to live',
      changed: settings.changed,
      problems,
      body: <TimeToLive {...part} />,
    },
    { key: 'date-indexes', label: 'Date TTL indexes', ...fixed, body: dates },
    { key: 'indexes', label: 'Indexes', ...fixed, body: all },
    { key: 'throughput', label: 'Throughput', ...fixed, body: throughput },
  ];
}

function Conflict({ target, settings }: { target: Target; settings: CollectionSettings }) {
  const { base, wanted, conflict } = settings;
  if (conflict === null) return null;
  const row = (value: number | null) => ({
    name: 'Time to live',
    before: defaultInWords(base),
    after: defaultInWords(value),
  });
  return (
    <ConflictDialog
      what={`The collection ${target.collection}`}
      theirs={[row(conflict.theirs)]}
      mine={wanted === undefined ? [] : [row(wanted)]}
      onOverwrite={settings.overwrite}
      onTheirs={settings.takeTheirs}
      onEdit={settings.goOn}
    />
  );
}

export default function MongoSettings({ target }: { target: Target }) {
  const gate = useExpiryGate(target, NOUN);
  const { loaded, settings } = useCollection(target, gate);
  if (settings === null) return <Unread target={target} place={NOUN.place} loaded={loaded} />;
  return (
    <SettingsPane
      target={target}
      nouns={NOUN}
      what="the time to live of this collection"
      loaded={loaded}
      saving={settings}
      gate={gate}
      sections={(disabled) => sectionsOf({ target, loaded, settings, disabled })}
      conflict={<Conflict target={target} settings={settings} />}
    />
  );
}
