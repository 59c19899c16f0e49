// Parts of the portal that are loaded when they are first shown. One that could not be loaded fails
// where it is shown, and is loaded again when a person tries again.
import { type ComponentType, lazy } from 'react';
import { arrival, early } from '../state/arrival';

const failed = new Set<() => void>();

/** Has every part that failed loaded again, when it is next shown. */
export function loadPartsAgain(): void {
  const all = [...failed];
  failed.clear();
  for (const again of all) again();
}

export function part<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
): ComponentType<P> {
  early(load);
  const make = () =>
    lazy(async () => {
      try {
        return await arrival(load);
      } catch (failure) {
        // What has failed once fails for ever, so another takes its place.
        failed.add(() => {
          Current = make();
        });
        throw failure;
      }
    });
  let Current = make();
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each part, when its module loads.
  return function Part(props: P) {
    const Shown = Current as ComponentType<P>;
    return <Shown {...props} />;
  };
}
