// First programs, one tab per language.
import { SquareTerminal } from 'lucide-react';
import { useId } from 'react';
import { usePreference } from '../../state/preference';
import { CopyButton } from '../../ui/CopyButton';
import { Tabs } from '../../ui/Tabs';
import { PLATFORMS } from './snippets/platforms';
import { type Facts, type Snippet, snippetsOf } from './snippets/snippet';

const TABS = PLATFORMS.map(({ key, label }) => ({ key, label }));
const isKey = (value: unknown): value is string => TABS.some(({ key }) => key === value);

function Program({ snippet }: { snippet: Snippet }) {
  const { title, install, code } = snippet;
  return (
    <div className="home-program">
      <div className="row">
        <h3>{title}</h3>
        <code className="hint">{install}</code>
        <CopyButton text={code} label={`the program for ${title}`} />
      </div>
      <pre tabIndex={0} role="region" aria-label={`Program for ${title}`}>
        {code}
      </pre>
    </div>
  );
}

export function Programs({ facts }: { facts: Facts }) {
  const [selected, select] = usePreference('platform', TABS[0]?.key ?? '', isKey);
  const panel = useId();
  const platform = PLATFORMS.find(({ key }) => key === selected);
  const snippets = platform === undefined ? [] : snippetsOf(platform, facts);
  return (
    <section className="home-card" aria-label="Sample programs">
      <h2>
        <SquareTerminal className="icon" />
        Sample programs
      </h2>
      <Tabs label="Languages" tabs={TABS} selected={selected} onSelect={select} panel={panel} />
      <div id={panel} role="tabpanel" aria-labelledby={`${panel}-tab-${selected}`}>
        {snippets.map((snippet) => (
          <Program key={snippet.title} snippet={snippet} />
        ))}
        {snippets.length === 0 && (
          <p className="hint">This needs an API that is off on this server.</p>
        )}
      </div>
    </section>
  );
}
