// Loads the collections of unopened databases while the palette is open.
import { useEffect } from 'react';
import { lookInto } from '../tree/lookInto';

export function useAllNames(): void {
  useEffect(() => {
    let stopped = false;
    void lookInto(() => stopped);
    return () => {
      stopped = true;
    };
  }, []);
}
