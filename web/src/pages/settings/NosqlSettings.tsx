// Settings of a container of the NoSQL API.
import { draftOf } from '../../pure/ttl/input';
import type { Target } from '../../state/place';
import { differences, feedOf, offerDifferences, ttlOf } from './container/definition';
import { FeedSection } from './container/FeedSection';
import { KeptPaths } from './container/KeptPaths';
import { PartitionKeySection, UniqueKeysSection } from './container/KeySections';
import { PolicySection } from './container/PolicySection';
import { policyText } from './container/policy';
import { ConflictDialog } from './frame/ConflictDialog';
import type { Section } from './frame/SettingsFrame';
import { SettingsPane } from './frame/SettingsPane';
import { Unread } from './frame/Unread';
import { ContainerThroughput } from './throughput/ContainerThroughput';
import { readThroughput, throughputOf, withThroughput } from './throughput/throughput';
import { ImpactView } from './ttl/ImpactView';
import { NOUNS } from './ttl/impact';
import { TtlSection } from './ttl/TtlSection';
import { useExpiryGate } from './ttl/useExpiryGate';
import { useImpact } from './ttl/useImpact';
import { type ContainerSettings, useContainer } from './useContainer';

type Key = 'ttl' | 'indexing' | 'throughput' | 'partition-key' | 'unique-keys' | 'change-feed';
const NOUN = NOUNS.nosql;

function TimeToLive({ target, settings, disabled }: Part) {
  const { base, edits, judged, edit } = settings;
  const saved = ttlOf(base.record);
  const draft = edits.ttl ?? draftOf(saved);
  const effect = useImpact(target, judged.changed.includes('ttl') ? judged.ttl : undefined);
  // The field shows its own error.
  const own = judged.ttl === undefined ? 1 : 0;
  return (
    <TtlSection
      nouns={NOUN}
      draft={draft}
      saved={saved}
      disabled={disabled}
      problems={judged.problems.ttl?.slice(own) ?? []}
      onDraft={(ttl) => edit({ ttl })}
      effect={<ImpactView state={effect} nouns={NOUN} />}
    />
  );
}

interface Part {
  target: Target;
  settings: ContainerSettings;
  disabled: boolean;
}

function Policy({ target, settings, disabled }: Part) {
  const { base, edits, judged, edit } = settings;
  return (
    <>
      <PolicySection
        text={edits.policy ?? policyText(base.record.indexingPolicy)}
        changed={judged.changed.includes('indexing')}
        problems={judged.problems.indexing ?? []}
        disabled={disabled}
        onText={(policy) => edit({ policy })}
      />
      <KeptPaths key={base.record._etag} target={target} />
    </>
  );
}

function sectionsOf(part: Part): Section<Key>[] {
  const { target, settings, disabled } = part;
  const { base, edits, judged, edit } = settings;
  const state = (key: 'ttl' | 'indexing' | 'throughput' | 'change-feed') => ({
    changed: judged.changed.includes(key),
    problems: judged.problems[key] ?? [],
  });
  const fixed = { changed: false, problems: [] };
  const offered = base.offer === null ? null : throughputOf(base.offer);
  const throughput = (
    <ContainerThroughput
      offer={base.offer}
      shared={base.shared}
      failure={base.offerFailure}
      database={target.database}
      draft={edits.throughput ?? offered}
      changed={state('throughput').changed}
      disabled={disabled}
      onDraft={(draft) => edit({ throughput: draft })}
    />
  );
  const feed = (
    <FeedSection
      draft={edits.feed ?? feedOf(base.record)}
      changed={state('change-feed').changed}
      disabled={disabled}
      onDraft={(draft) => edit({ feed: draft })}
    />
  );
  const keys = <PartitionKeySection record={base.record} />;
  const unique = <UniqueKeysSection record={base.record} />;
  return [
    { key: 'ttl', label: 'Time to live', ...state('ttl'), body: <TimeToLive {...part} /> },
    { key: 'indexing', label: 'Indexing policy', ...state('indexing'), body: <Policy {...part} /> },
    { key: 'throughput', label: 'Throughput', ...state('throughput'), body: throughput },
    { key: 'partition-key', label: 'Partition key', ...fixed, body: keys },
    { key: 'unique-keys', label: 'Unique keys', ...fixed, body: unique },
    { key: 'change-feed', label: 'Change feed', ...state('change-feed'), body: feed },
  ];
}

function Conflict({ target, settings }: { target: Target; settings: ContainerSettings }) {
  const { base, judged, conflict } = settings;
  if (conflict === null) return null;
  const wanted = judged.throughput === null ? null : readThroughput(judged.throughput);
  const offer =
    base.offer !== null && wanted !== null && 'value' in wanted
      ? withThroughput(base.offer, wanted.value)
      : base.offer;
  return (
    <ConflictDialog
      what={`The container ${target.collection}`}
      theirs={[
        ...differences(base.record, conflict.record),
        ...offerDifferences(base.offer, conflict.offer),
      ]}
      mine={[...differences(base.record, judged.record), ...offerDifferences(base.offer, offer)]}
      onOverwrite={settings.overwrite}
      onTheirs={settings.takeTheirs}
      onEdit={settings.goOn}
    />
  );
}

export default function NosqlSettings({ target }: { target: Target }) {
  const gate = useExpiryGate(target, NOUN);
  const { loaded, settings } = useContainer(target, gate);
  if (settings === null) return <Unread target={target} place={NOUN.place} loaded={loaded} />;
  return (
    <SettingsPane
      target={target}
      nouns={NOUN}
      what="this container"
      loaded={loaded}
      saving={settings}
      gate={gate}
      sections={(disabled) => sectionsOf({ target, settings, disabled })}
      conflict={<Conflict target={target} settings={settings} />}
    />
  );
}
