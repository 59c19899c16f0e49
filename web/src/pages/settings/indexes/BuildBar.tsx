// Progress of an index build: a bar with percentage for tables, and a text for a waiting dialog.
import { useEffect, useState } from 'react';
import { type Build, perCent } from './builds';

/** `build` undefined: no progress known yet. */
export function BuildBar({ label, build }: { label: string; build: Build | undefined }) {
  const known = build === undefined ? null : perCent(build);
  return (
    <span className="settings-build">
      <progress aria-label={label} max={100} {...(known === null ? {} : { value: known })} />
      {known !== null && <span>{known} %</span>}
    </span>
  );
}

/** Shows the progress and duration of a build. */
export function Building({ build }: { build: Build | undefined }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((known) => known + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <BuildBar label="Build progress" build={build} />
      <p role="status">
        The index is being built{seconds > 0 && `, for ${seconds} s now`}. Documents can be read and
        written during the build, and closing this does not stop it.
      </p>
    </>
  );
}

/** Progress in a table row; renders nothing once complete. */
export function BuildCell({ name, builds }: { name: string; builds: ReadonlyMap<string, Build> }) {
  if (!builds.has(name)) return null;
  return (
    <>
      <span className="settings-building">Being built</span>
      <BuildBar label={`Progress of ${name}`} build={builds.get(name)} />
    </>
  );
}
