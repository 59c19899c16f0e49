// The pane of one item beside the grid: its text, its expiry, and actions.
import {
  type CSSProperties,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { lineOf } from '../../pure/json/tree';
import type { Expiry } from '../../pure/ttl/reasons';
import { early } from '../../state/arrival';
import type { Target } from '../../state/place';
import { useNow } from '../../state/server';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { CodeEditor } from '../../ui/CodeEditor';
import type { EditorRules } from '../../ui/editorRules';
import { FailureBanner } from '../../ui/FailureBanner';
import { useSaveKey } from '../../ui/useSaveKey';
import { useToastRoom } from '../../ui/useToastRoom';
import { Conflict } from './Conflict';
import { bothTimes, instant, shownExpiry } from './expires';
import { LARGE_TEXT, LargeText } from './LargeText';
import { LifeActions, NoLifeActions, whyNone } from './LifeActions';
import { NewerBanner } from './NewerBanner';
import { type Opened, READ_ONLY, type Row, type Source } from './source';
import { boundOf, CHECKED_CHARACTERS, tooLarge } from './textSize';
import { Unanswered } from './Unanswered';
import { type Item, type ItemEvents, useItem } from './useItem';

/** What takes the focus when the pane opens; null: nothing. */
export type Focus = 'heading' | 'text' | null;

export interface ItemPaneProps extends ItemEvents {
  target: Target;
  source: Source;
  /** null: a new item. */
  row: Row | null;
  /** Initial text of a duplicated item. */
  copy: string | null;
  writable: boolean;
  focus: Focus;
  /** Requests deletion, which needs confirmation. */
  onDelete: (row: Row) => void;
  onClose: () => void;
}

function Life({ opened, now }: { opened: Opened; now: number | null }) {
  const { at, left, near, reason } = shownExpiry(opened.row.expiry, now);
  return (
    <p className="items-line">
      Expires:{' '}
      {at !== '' && (
        <span className={`items-near-${near}`} title={bothTimes(at, opened.row.expiry.expiresAtMs)}>
          {left !== '' && (
            <>
              in <strong className="items-left">{left}</strong>,{' '}
            </>
          )}
          {at} UTC
        </span>
      )}{' '}
      {reason}
    </p>
  );
}

function System({ opened }: { opened: Opened }) {
  if (opened.system.length === 0) return null;
  return (
    <details className="items-system">
      <summary>System properties</summary>
      <dl>
        {opened.system.map(([name, value]) => (
          <div key={name}>
            <dt className="mono">{name}</dt>
            <dd className="mono">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** Messages about the text while it is edited. */
function Findings({
  source,
  text,
  opened,
  dirty,
}: {
  source: Source;
  text: string;
  opened: Opened | null;
  dirty: boolean;
}) {
  const large = useMemo(() => tooLarge(source, text), [source, text]);
  const isChecked = text.length <= CHECKED_CHARACTERS;
  const found = useMemo(
    () => (isChecked && dirty ? source.check(text, opened) : null),
    [isChecked, dirty, source, text, opened],
  );
  if (large !== null)
    return (
      <p className="error" role="alert">
        {large}
      </p>
    );
  if (!isChecked) return <p className="hint">The text is long and is checked when it is saved.</p>;
  if (found === null) return null;
  if (found.error !== null) {
    return (
      <p className="error items-error" role="status">
        Line {lineOf(text, found.error.at)}: {found.error.message}
      </p>
    );
  }
  const foreseen = found.outlook;
  return (
    <div role="status">
      {foreseen !== null && foreseen.refused === null && (
        <p className="hint">
          If saved now: {foreseen.words}
          {foreseen.seconds !== null && `, ${foreseen.seconds} s after the save`}.
        </p>
      )}
      {found.other !== null && <Banner look="warn">{found.other}</Banner>}
    </div>
  );
}

function Gone({ item, source, died }: { item: Item; source: Source; died: number | null }) {
  return (
    <Banner look="bad">
      {died === null
        ? `This ${source.noun} no longer exists: it was deleted or has expired.`
        : `This ${source.noun} expired at ${instant(died)} UTC.`}{' '}
      {item.opened !== null && 'Its text is kept here.'}
      {item.text !== '' && (
        <Button busy={item.busy} onClick={item.createAnew}>
          Create again
        </Button>
      )}
    </Banner>
  );
}

const loadRules = early(() => import('../../ui/editorRules'));

function useRules(source: Source, item: Item) {
  const current: EditorRules = {
    check: (text) => source.check(text, item.opened).error,
    checked: CHECKED_CHARACTERS,
  };
  const rules = useRef(current);
  useEffect(() => {
    rules.current = current;
  });
  return useCallback(async () => (await loadRules()).editorRules(rules), []);
}

interface EditorProps {
  source: Source;
  item: Item;
  writable: boolean;
  gone: boolean;
  /** The pane's heading, if the editor takes the focus from it when it loads. */
  heading: HTMLElement | null;
}

const START = { from: 0, to: 0 };

function Editor({ source, item, writable, gone, heading }: EditorProps) {
  const rules = useRules(source, item);
  // Only if the focus is still on the heading.
  const [start] = useState(() =>
    heading !== null && document.activeElement === heading ? START : null,
  );
  const text = useDeferredValue(item.text);
  const [isAsked, ask] = useState(false);
  if (item.text.length > LARGE_TEXT && !item.dirty && item.opened !== null && !isAsked) {
    const { name } = item.opened.row;
    return <LargeText source={source} name={name} text={item.text} onEdit={() => ask(true)} />;
  }
  return (
    <>
      <div className="items-text">
        <CodeEditor
          label={source.noun === 'item' ? 'Item' : 'Document'}
          value={item.text}
          onChange={item.setText}
          onRun={() => {
            if (writable && (item.dirty || item.opened === null)) item.save();
          }}
          saves
          language={source.language}
          start={writable ? (item.start ?? start) : null}
          bound={boundOf(source)}
          readOnly={!writable}
          load={rules}
        />
      </div>
      <Findings
        source={source}
        text={text}
        opened={gone ? null : item.opened}
        dirty={item.dirty || item.opened === null}
      />
    </>
  );
}

interface TimeLeftProps {
  source: Source;
  expiry: Expiry;
  now: number;
  writable: boolean;
  item: Item;
}

function TimeLeft({ source, expiry, now, writable, item }: TimeLeftProps) {
  const why = whyNone(source, expiry, writable);
  // Buttons that were usable stay, so that a focused one does not disappear.
  const [wasUsable, setWasUsable] = useState(why === null);
  if (why === null && !wasUsable) setWasUsable(true);
  if (why !== null && !wasUsable) return <NoLifeActions why={why} />;
  return (
    <LifeActions
      source={source}
      expiry={expiry}
      now={now}
      blocked={item.dirty ? 'Save or discard your changes first.' : null}
      busy={item.busy}
      onTtl={item.setTtl}
      onTouch={item.touch}
    />
  );
}

export default function ItemPane(props: ItemPaneProps) {
  const { target, source, row, copy, writable, focus, onDelete, onClose } = props;
  const item = useItem(target, source, row, copy, props);
  const now = useNow();
  const heading = useRef<HTMLHeadingElement>(null);
  const pane = useRef<HTMLElement>(null);
  const room = useToastRoom(pane);
  // The editor of a new item takes the focus itself when it has loaded.
  const toHeading = focus !== null && (row !== null || !writable);
  const headed = useRef(false);
  useEffect(() => {
    if (headed.current) return;
    headed.current = true;
    // In a small window the list may be scrolled.
    heading.current?.scrollIntoView({ block: 'nearest' });
    if (toHeading) heading.current?.focus();
  }, [toHeading]);
  const { opened } = item;
  const dies = opened?.row.expiry.expiresAtMs ?? null;
  const died = dies !== null && now !== null && dies <= now ? dies : null;
  const gone = item.gone || died !== null;
  const Noun = source.noun === 'item' ? 'Item' : 'Document';
  const name = opened?.row.name ?? row?.name;
  const why = writable ? undefined : READ_ONLY;
  const isNew = row === null && opened === null;
  useSaveKey(writable && (item.dirty || isNew) ? item.save : null);
  return (
    <section
      className="items-pane"
      aria-label={isNew ? `New ${source.noun}` : `${Noun} ${name}`}
      ref={pane}
      style={{ '--items-room': `${room}px` } as CSSProperties}
    >
      <div className="items-pane-head">
        <h2 ref={heading} tabIndex={-1}>
          {isNew ? `New ${source.noun}` : name}
          {item.dirty && <span className="badge">unsaved</span>}
        </h2>
        <Button look="quiet" onClick={onClose}>
          <span className="items-back">← Back</span>
          <span className="items-close">
            <span aria-hidden="true">✕</span>
            <span className="visually-hidden">Close</span>
          </span>
        </Button>
      </div>
      <div className="row items-commands">
        <Button
          look="primary"
          disabled={!writable || (!item.dirty && !isNew)}
          title={why}
          busy={item.busy}
          onClick={item.save}
          aria-keyshortcuts="Control+S"
        >
          Save
        </Button>
        <Button disabled={!item.dirty} onClick={item.discard}>
          Discard
        </Button>
        <Button
          look="danger"
          disabled={!writable || opened === null || gone}
          title={why}
          onClick={() => opened !== null && onDelete(opened.row)}
        >
          Delete
        </Button>
        {why !== undefined && <span className="hint">{why}</span>}
      </div>
      <FailureBanner words={item.failure} />
      <Unanswered item={item} />
      <p className="visually-hidden" role="status">
        {item.said}
      </p>
      {!gone && <NewerBanner source={source} item={item} />}
      {gone && <Gone item={item} source={source} died={died} />}
      {item.theirs !== null && (
        <Conflict key={item.theirs.text} source={source} theirs={item.theirs} item={item} />
      )}
      {opened !== null && !gone && <Life opened={opened} now={now} />}
      {item.reading ? (
        <p className="empty">Loading…</p>
      ) : (
        (opened !== null || row === null || item.text !== '') && (
          <Editor
            source={source}
            item={item}
            writable={writable}
            gone={gone}
            heading={toHeading && focus === 'text' ? heading.current : null}
          />
        )
      )}
      {opened !== null && !gone && now !== null && (
        <TimeLeft
          source={source}
          expiry={opened.row.expiry}
          now={now}
          writable={writable}
          item={item}
        />
      )}
      {opened !== null && <System opened={opened} />}
    </section>
  );
}
