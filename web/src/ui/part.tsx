// Lazily loaded parts of the portal. A part that fails to load shows the error and is loaded again
// on retry.
import { type ComponentType, lazy } from 'react';
import { arrival, early } from '../state/arrival';

const failed = new Set<() => void>();

/** Makes every failed part load again when it is next shown. */
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
        // A failed lazy component stays failed, so it is replaced.
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
