// How far an index is that is being built, as a bar and per cent.
import { type Build, perCent } from './builds';

/** `build` is undefined where nobody has said anything yet. */
export function BuildBar({ label, build }: { label: string; build: Build | undefined }) {
  const known = build === undefined ? null : perCent(build);
  return (
    <span className="settings-build">
      <progress aria-label={label} max={100} {...(known === null ? {} : { value: known })} />
      {known !== null && <span>{known} %</span>}
    </span>
  );
}
