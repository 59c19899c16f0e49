// While the palette is open, collections of databases that were never opened are asked for.
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
